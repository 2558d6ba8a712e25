TEMPLATES = sorted(str(path) for path in Path("reports/templates").iterdir())


# One job draws and writes everything: starting Python with pandas and matplotlib costs more than
# most figures do.
rule write_report:
    input:
        code_of("reports.build"),
        TEMPLATES,
        EMULATE_INPUT,
        built(*WORKFLOW.controllers),
        config=CONFIG,
        studies=expand(
            f"{RESULTS}/{{study}}/{{file}}",
            study=STUDIES,
            file=STUDY_FILES,
        ),
        repeats=expand(
            f"{RESULTS}/repeats/{{name}}/{{file}}",
            name=REPEATS,
            file=["runs.parquet", "made_by.json"],
        ),
        hold_out=rules.hold_out_settings.output if WORKFLOW.hold_out else [],
        showcase=rules.showcase_run.output if WORKFLOW.showcase else [],
        published=sorted((CONFIG.parent / "published").glob("*")),
        real=lambda _: made(*REAL_RESULTS) if is_confirming() else REAL_NOTE,
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
