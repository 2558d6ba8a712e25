OWN_WORDS = listed(CONFIG.parent / "comparisons", "*.md.jinja")
OWN_TEXT = listed(CONFIG.parent / "text", "*.md")
TEMPLATES = [listed(PACKAGE / "reports/templates", "*"), listed(QUESTIONS, "*.jinja")]


# The figures of a kind are in one folder, because only the tables determine their number.
rule draw:
    input:
        code_of("kneepoint.reports.draw"),
        [code_of(module_of(kind)) for kind in PART_OF],
        lambda _: when_built(*WORKFLOW.controllers),
        tables=analysed(TABLES),
        intact=[noted_sealed(f"{RESULTS}/figures/{kind}") for kind in PART_OF],
    output:
        [
            report(
                directory(f"{RESULTS}/figures/{kind}"),
                patterns=["{figure}.svg"],
                caption="captions/figure.rst",
                category=numbered(part),
                subcategory="Figures",
                labels=lambda wildcards: {
                    "figure": wildcards.figure,
                    "question": question_of(wildcards.figure),
                },
            )
            for kind, part in PART_OF.items()
        ],
    log:
        f"{LOGS}/draw/figures.log",
    benchmark:
        f"{BENCHMARKS}/draw/figures.tsv"
    conda:
        str(TOOL / "environment.yml")
    threads: 2
    params:
        results=RESULTS,
        kinds=list(PART_OF),
    message:
        "Drawing the figures"
    shell:
        "python -m kneepoint.reports.draw --results {params.results:q} --processes {threads}"
        " {params.kinds:q} > {log:q} 2>&1"


# A single figure; the name of a kind stands for the first of its figures.
rule draw_figure:
    input:
        code_of("kneepoint.reports.draw"),
        lambda wildcards: code_of(module_of(kind_of(wildcards.figure))),
        lambda _: when_built(*WORKFLOW.controllers),
        tables=analysed(TABLES),
    output:
        f"{RESULTS}/figures/{{figure}}.svg",
    log:
        f"{LOGS}/draw_figure/{{figure}}.log",
    benchmark:
        f"{BENCHMARKS}/draw_figure/{{figure}}.tsv"
    wildcard_constraints:
        figure=f"({'|'.join(PART_OF)})(-[^/]+)?",
    conda:
        str(TOOL / "environment.yml")
    params:
        results=RESULTS,
        kind=lambda wildcards: kind_of(wildcards.figure),
    message:
        "Drawing: {wildcards.figure}"
    shell:
        "python -m kneepoint.reports.draw --results {params.results:q} {params.kind:q}"
        " --out {output:q} > {log:q} 2>&1"


rule write_report:
    input:
        code_of("kneepoint.reports.build"),
        [code_of(stage.module) for stage in STAGES.values()],
        TEMPLATES,
        OWN_WORDS,
        OWN_TEXT,
        lambda _: when_built(*WORKFLOW.controllers),
        config=note_input(CONFIG),
        tables=analysed(TABLES),
        figures=[f"{RESULTS}/figures/{kind}" for kind in PART_OF],
        results=lambda _: results_in("published", *{each.group for each in EXPERIMENTS.values()}),
        intact=noted_sealed(f"{RESULTS}/report"),
    # The previous report stays until the new one is complete.
    output:
        report(
            update(f"{RESULTS}/report.html"),
            caption="captions/report.rst",
            category=numbered(AT_A_GLANCE),
            labels={"the report": "as a page"},
        ),
        report(
            update(f"{RESULTS}/report.pdf"),
            caption="captions/report.rst",
            category=numbered(AT_A_GLANCE),
            labels={"the report": "to print"},
        ),
        report(
            update(f"{RESULTS}/provenance.json"),
            caption="captions/provenance.rst",
            category=numbered(APPENDIX),
            labels={"made of": "provenance"},
        ),
        tables=report(
            update(directory(f"{RESULTS}/tables")),
            patterns=["{table}.csv"],
            caption="captions/table.rst",
            category=lambda wildcards: numbered(part_of_table(wildcards.table)),
            subcategory="Tables",
            labels={"table": "{table}"},
        ),
    log:
        f"{LOGS}/write_report/report.log",
    benchmark:
        f"{BENCHMARKS}/write_report/report.tsv"
    conda:
        str(TOOL / "environment.yml")
    params:
        config=CONFIG,
    message:
        "Writing the report"
    shell:
        "python -m kneepoint.reports.build --config {params.config:q} > {log:q} 2>&1"
