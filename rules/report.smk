REPORT_SOURCES = sorted(
    str(path)
    for path in Path("reports").rglob("*")
    if path.suffix in (".py", ".typ", ".jinja", ".css")
)


# One job draws and writes everything: starting Python with pandas and matplotlib costs more than
# most figures do.
rule write_report:
    input:
        REPORT_SOURCES,
        config=CONFIG,
        studies=expand(
            f"{RESULTS}/{{study}}/{{file}}",
            study=STUDIES,
            file=["trials.parquet", "runs.parquet", "study.json"],
        ),
        repeats=expand(f"{RESULTS}/repeats/{{name}}/runs.parquet", name=REPEATS),
        hold_out=(
            multiext(
                f"{RESULTS}/hold_out/", "runs.parquet", "settings.parquet", "networks.parquet"
            )
            if WORKFLOW.hold_out
            else []
        ),
        showcase=(
            multiext(f"{RESULTS}/showcase/", "uplink.log", "run.json") if WORKFLOW.showcase else []
        ),
        published=sorted((CONFIG.parent / "published").glob("*")),
    output:
        multiext(f"{RESULTS}/", "report.html", "report.pdf", "provenance.json"),
        figures=directory(f"{RESULTS}/figures"),
        tables=directory(f"{RESULTS}/tables"),
    log:
        "logs/write_report/report.log",
    benchmark:
        "benchmarks/write_report/report.tsv"
    conda:
        "../environment.yml"
    threads: 2
    params:
        config=CONFIG,
        real=real_results(),
    message:
        "Writing the report"
    shell:
        "python -m reports.build --config {params.config} --cores {threads} > {log} 2>&1"
