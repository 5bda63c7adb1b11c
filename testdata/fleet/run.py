"""Runs the queries of samples/fleet in an engine, in the current directory, and prints their answers.

    python run.py duckdb|clickhouse|spark FILE.sql

Everything in front of the comment "-- 1. " defines the table. Each question starts with "-- N. ". The
answers are a JSON object: number of the question -> {"columns": [...], "rows": [[...], ...]}.
"""
import json
import re
import sys


def duckdb(statements):
    import duckdb
    connection = duckdb.connect()
    connection.sql("SET TimeZone = 'UTC'")
    for statement in statements:
        result = connection.sql(statement)
        if result is None:
            yield None
        else:
            yield result.columns, result.fetchall()


def clickhouse(statements):
    from chdb import session
    connection = session.Session()
    for statement in statements:
        text = str(connection.query(statement, "JSONCompact"))
        if not text.strip():
            yield None
            continue
        answer = json.loads(text)
        yield [c["name"] for c in answer["meta"]], answer["data"]
    connection.close()


def spark(statements):
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local[2]").appName("gclog")
    for key, value in {
        "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2", "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(key, value)
    connection = builder.getOrCreate()
    for statement in statements:
        frame = connection.sql(statement)
        yield (frame.columns, [list(r) for r in frame.collect()]) if frame.columns else None
    connection.stop()


def main(engine, path):
    with open(path, encoding="utf-8") as f:
        sections = re.split(r"^-- (\d+)\. ", f.read(), flags=re.MULTILINE)
    numbers, statements = [], []
    for number, section in zip([None] + sections[1::2], sections[::2]):
        code = re.sub(r"^.*?\n" if number else r"^--.*$", "", section, count=1 if number else 0, flags=re.MULTILINE)
        for statement in filter(str.strip, code.split(";")):
            numbers.append(number)
            statements.append(statement)
    answers = {}
    for number, answer in zip(numbers, {"duckdb": duckdb, "clickhouse": clickhouse, "spark": spark}[engine](statements)):
        if number:
            columns, rows = answer
            answers[number] = {"columns": list(columns), "rows": [list(r) for r in rows]}
    json.dump(answers, sys.stdout, default=float)


main(*sys.argv[1:])
