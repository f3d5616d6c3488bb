def row_product(x):
    return x.prod(axis=1)
