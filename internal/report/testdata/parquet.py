"""Reads a Parquet file and the CSV of the same result, and prints in what they differ."""
import sys
import duckdb

parquet, csv = sys.argv[1:]
print(duckdb.sql(f"select string_agg(column_name || ' ' || column_type, ', ') from (describe from '{parquet}')").fetchone()[0])
print(duckdb.sql(f"select count(*), count(distinct id), count(*) filter (value is null) > 0, min(started)::varchar from '{parquet}'").fetchone())
other = f"read_csv('{csv}', header=true, all_varchar=true)"
columns = "run, phase, start_ns, end_ns, series"
print(duckdb.sql(f"""select count(*) from
	(select {columns}, value from '{parquet}') a
	full join (select run, phase, start_ns::bigint start_ns, end_ns::bigint end_ns, series, try_cast(value as double) as value from {other}) b
	using ({columns})
	where a.value is distinct from b.value""").fetchone()[0], "differ")
