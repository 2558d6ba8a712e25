TEMPLATES = sorted(str(path) for path in Path("reports/templates").rglob("*") if path.is_file())


# One job draws and writes everything, because importing pandas and matplotlib takes longer than most
# figures.
rule write_report:
    input:
        code_of("reports.build"),
        TEMPLATES,
        config=CONFIG,
        tables=analysed(TABLES),
        results=lambda _: results_in("published", *map(group_of, EXPERIMENTS.values())),
    # An older report stays where it is until the new one is whole.
    output:
        report(update(f"{RESULTS}/report.html"), caption="captions/report.rst", category="Report"),
        report(update(f"{RESULTS}/report.pdf"), caption="captions/report.rst", category="Report"),
        report(
            update(f"{RESULTS}/provenance.json"),
            caption="captions/provenance.rst",
            category="Provenance",
        ),
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


# A figure by itself, without the report: Snakemake takes one or the other, for the report owns the folder.
rule draw_figure:
    input:
        code_of("reports.draw"),
        config=CONFIG,
        tables=analysed(TABLES),
    output:
        f"{RESULTS}/figures/{{figure}}.svg",
    log:
        "logs/draw_figure/{figure}.log",
    benchmark:
        "benchmarks/draw_figure/{figure}.tsv"
    conda:
        "../environment.yml"
    params:
        config=CONFIG,
    message:
        "Drawing: {wildcards.figure}"
    shell:
        "python -m reports.draw --config {params.config:q} --out {output:q} > {log:q} 2>&1"
