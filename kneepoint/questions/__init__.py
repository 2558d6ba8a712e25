"""What a report asks, one folder a question, which everything else finds by looking here.

The `__init__` of a folder declares its QUESTION (see kneepoint.runs.question), with the model of
its keys of config.yaml, and imports little, because every start of the workflow reads it. Beside it
are

- `plan.py`: what its experiments run;
- `tables.py`: TABLES, the schemas of its tables, `compute`, which makes them of results and of the
  tables that it reads, and DERIVED, what its section computes of tables;
- `figures.py`: FIGURES, by their kinds (see kneepoint.reports.figures);
- `section.md.jinja`: what it says in the report, a macro for each section;
- `section.py`: functions and constants that its template uses under the question's name, such as
  `audit.SURE`.

A question uses another's tables where it declares so, and never its code.
"""
