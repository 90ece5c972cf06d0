"""Tables of CSV and Parquet files: typed columns with missing values."""
