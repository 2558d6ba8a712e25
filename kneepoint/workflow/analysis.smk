# From results to checked tables, such as results/audit.parquet. A stage whose table an experiment
# reads is a job of its own; all other stages are one job.
ALONE = [name for name in STAGES if STAGES[name].feeds_experiments]
TOGETHER = [name for name in STAGES if name not in ALONE]

for job, stages in [*((f"analyse_{name}", [name]) for name in ALONE), ("analyse", TOGETHER)]:
    written = [table for stage in stages for table in STAGES[stage].tables]
    groups = {group for stage in stages for group in STAGES[stage].groups}
    read = {table for stage in stages for table in STAGES[stage].reads}.difference(written)

    rule:
        name:
            job
        input:
            str(EMULATE),
            built(*WORKFLOW.controllers),
            results=lambda _, groups=sorted(groups): results_in(*groups),
            tables=analysed(sorted(read)),
            again=again_unless(all(is_sealed(f"{RESULTS}/stages/{stage}") for stage in stages)),
        output:
            analysed(written),
        log:
            f"{LOGS}/analyse/{job}.log",
        benchmark:
            f"{BENCHMARKS}/analyse/{job}.tsv"
        conda:
            str(TOOL / "environment.yml")
        params:
            config=CONFIG,
            stages=stages,
            code=code.digest_of_step(
                "kneepoint.analysis.run", *(STAGES[stage].module for stage in stages)
            ),
            reads=[digest_of(CONFIG), *digest_of_read(*groups)],
        message:
            f"Analysing: {', '.join(stages)}"
        shell:
            "python -m kneepoint.analysis.run --config {params.config:q} {params.stages:q} > {log:q} 2>&1"
