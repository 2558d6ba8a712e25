# From results to checked tables: one job per stage; each table is a target, such as results/audit.parquet.

for stage in STAGES.values():

    rule:
        name:
            f"analyse_{stage.name}"
        input:
            code_of("analysis.run"),
            code_of(f"analysis.{stage.name}"),
            lambda _: when_built(*WORKFLOW.controllers),
            "build/emulate",
            built(*WORKFLOW.controllers),
            config=note_input(CONFIG),
            results=lambda _, groups=stage.results: results_in(*groups),
            tables=analysed(stage.reads),
        output:
            analysed(table.name for table in stage.tables),
        log:
            f"logs/analyse/{stage.name}.log",
        benchmark:
            f"benchmarks/analyse/{stage.name}.tsv"
        conda:
            "../environment.yml"
        params:
            config=CONFIG,
            stage=stage.name,
        message:
            f"Analysing: {stage.name}"
        shell:
            "python -IS common/forked.py analysis.run --config {params.config:q} {params.stage} > {log:q} 2>&1"
