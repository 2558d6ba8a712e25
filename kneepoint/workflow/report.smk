WORDS = [
    digest_of_folder(CONFIG.parent / "comparisons", "*.md.jinja"),
    digest_of_folder(CONFIG.parent / "text", "*.md"),
    digest_of_folder(PACKAGE / "reports/templates", "*"),
    digest_of_folder(QUESTIONS, "*.jinja"),
]
SECTIONS = [
    f"kneepoint.questions.{path.parent.name}.section"
    for path in sorted(QUESTIONS.glob("*/section.py"))
]
GROUPS = sorted({each.group for each in EXPERIMENTS.values()})


# The figures of a kind are in one folder, because only the tables determine their number.
rule draw:
    input:
        tables=analysed(TABLES),
        again=again_unless(all(is_sealed(f"{RESULTS}/figures/{kind}") for kind in PART_OF)),
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
        code=code.digest_of_step("kneepoint.reports.draw", *map(module_of, PART_OF)),
    message:
        "Drawing the figures"
    shell:
        "python -m kneepoint.reports.draw --results {params.results:q} --processes {threads}"
        " {params.kinds:q} > {log:q} 2>&1"


# A single figure; the name of a kind stands for the first of its figures.
rule draw_figure:
    input:
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
        code=lambda wildcards: code.digest_of_step(
            "kneepoint.reports.draw", module_of(kind_of(wildcards.figure))
        ),
    message:
        "Drawing: {wildcards.figure}"
    shell:
        "python -m kneepoint.reports.draw --results {params.results:q} {params.kind:q}"
        " --out {output:q} > {log:q} 2>&1"


rule write_report:
    input:
        tables=analysed(TABLES),
        figures=[f"{RESULTS}/figures/{kind}" for kind in PART_OF],
        results=lambda _: results_in(*GROUPS),
        again=again_unless(is_sealed(f"{RESULTS}/report")),
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
        code=code.digest_of_step(
            "kneepoint.reports.build",
            *(stage.module for stage in STAGES.values()),
            *SECTIONS,
        ),
        reads=[digest_of(CONFIG), *WORDS, *digest_of_read("published", *GROUPS)],
    message:
        "Writing the report"
    shell:
        "python -m kneepoint.reports.build --config {params.config:q} > {log:q} 2>&1"
