# The report takes in what is there of real runs, and asks nobody to make them.
REAL_NOTE = code.note(
    "real_results",
    code.digest_of_files(f"{RESULTS}/{name}/{MADE_BY}" for name in names(True)),
)
TEMPLATES = sorted(str(path) for path in Path("reports/templates").iterdir())


# One job draws and writes everything: starting Python with pandas and matplotlib costs more than
# most figures do.
rule write_report:
    input:
        code_of("reports.build"),
        TEMPLATES,
        "build/emulate",
        built(*WORKFLOW.controllers),
        results_of(*names(False)),
        PUBLISHED,
        config=CONFIG,
        real=lambda _: results_of(*names(True)) if is_confirming() else REAL_NOTE,
    # An older report stays where it is until the new one is whole.
    output:
        update(f"{RESULTS}/report.html"),
        update(f"{RESULTS}/report.pdf"),
        update(f"{RESULTS}/provenance.json"),
        figures=update(directory(f"{RESULTS}/figures")),
        tables=update(directory(f"{RESULTS}/tables")),
    log:
        "logs/write_report/report.log",
    benchmark:
        "benchmarks/write_report/report.tsv"
    conda:
        "../environment.yml"
    threads: 2
    params:
        config=CONFIG,
    message:
        "Writing the report"
    shell:
        "python -m reports.build --config {params.config:q} --cores {threads} > {log:q} 2>&1"
