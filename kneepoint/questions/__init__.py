"""The questions of a report: one folder for each, found by listing this package.

The `__init__` of a folder declares its QUESTION (see kneepoint.runs.question), with the model of
its keys of config.yaml, and imports little, because every start of the workflow reads it. The
folder also contains

- `plan.py`: the runs of its experiments, and TABLES, the schemas of their own tables;
- `tables.py`: TABLES, the schemas of its tables; `compute`, which makes them from results and from
  the tables that it reads; and DERIVED, the tables that its section derives;
- `figures.py`: FIGURES, by their kinds (see kneepoint.reports.figures);
- `section.md.jinja`: its text in the report, a macro for each section;
- `section.py`: functions and constants that its template uses under the question's name, such as
  `audit.SURE`.

A question reads tables of another question only where it declares them, and never imports its code.
"""
