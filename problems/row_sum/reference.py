def row_sum(x):
    return x.sum(axis=1)
