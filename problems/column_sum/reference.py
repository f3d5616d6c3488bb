def column_sum(x):
    return x.sum(axis=0)
