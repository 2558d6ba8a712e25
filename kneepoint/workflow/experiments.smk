# One rule per kind of experiment, one job per experiment: see kneepoint/runs/registry.py. `make confirm`
# requests the real-time experiments; rule all does not, and the report includes existing results.


for name, kind in {each.rule: each.kind for each in EXPERIMENTS.values()}.items():
    known = [each.name for each in EXPERIMENTS.values() if each.rule == name]

    rule:
        name:
            name
        input:
            programs=lambda wildcards: [str(EMULATE), *REAL_PROGRAMS[of(wildcards).engine]],
            controllers=lambda wildcards: built(*of(wildcards).controllers),
            networks=lambda wildcards: prepared(*of(wildcards).networks),
            results=lambda wildcards: results_of(*of(wildcards).needs),
            tables=lambda wildcards: [f"{RESULTS}/{each}.parquet" for each in of(wildcards).tables],
            before=lambda wildcards: before(of(wildcards)),
            again=lambda wildcards: again_unless(is_valid(wildcards.experiment)),
        output:
            multiext(f"{RESULTS}/{{experiment}}/", "runs.parquet", *kind.files, MADE_BY),
        log:
            f"{LOGS}/{name}/{{experiment}}.log",
        benchmark:
            f"{BENCHMARKS}/{name}/{{experiment}}.tsv"
        wildcard_constraints:
            experiment="|".join(map(re.escape, known)),
        conda:
            str(TOOL / "environment.yml")
        threads: workflow.cores if kind.needs_whole_host else 1
        params:
            config=CONFIG,
            cluster=CLUSTER,
            seed=WORKFLOW.settings.seed,
            settings=lambda wildcards: of(wildcards).settings,
            host=lambda wildcards: host_of(of(wildcards)),
            code=code.digest_of_step(RUNNER, kind.step),
            reads=lambda wildcards: digest_of(*of(wildcards).config_files),
            say=lambda wildcards: output_of(of(wildcards)),
        message:
            f"{kind.message}: {{wildcards.experiment}}"
        shell:
            "python -m kneepoint.workflow.experiment --config {params.config:q} --cluster {params.cluster:q}"
            " {wildcards.experiment:q} {params.say}"
