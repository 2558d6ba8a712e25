from experiments.cluster import start_cluster

# The workflow's one Ray writes this file when it is ready; `onstart` starts it.
CLUSTER = Path("build/cluster.json")
STUDY_FILES = ["study.json", "trials.parquet", "runs.parquet", "made_by.json"]


rule search_study:
    input:
        code_of("search.study"),
        engine=lambda wildcards: needs_of(
            WORKFLOW.studies[wildcards.study].engine, WORKFLOW.studies[wildcards.study].controller
        ),
        networks=lambda wildcards: prepared(*WORKFLOW.studies[wildcards.study].networks),
        study=CONFIG.parent / "studies/{study}.yaml",
        tables=lambda wildcards: expand(
            CONFIG.parent / "published/{table}.{suffix}",
            table=WORKFLOW.studies[wildcards.study].tables,
            suffix=["csv", "yaml"],
        ),
    output:
        expand(f"{RESULTS}/{{{{study}}}}/{{file}}", file=STUDY_FILES),
    log:
        "logs/search_study/{study}.log",
    benchmark:
        "benchmarks/search_study/{study}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        seed=WORKFLOW.settings.seed,
        out_dir=subpath(output[0], parent=True),
        cluster=CLUSTER,
        host=lambda wildcards: host_of(WORKFLOW.studies[wildcards.study].engine),
        executor=lambda wildcards: executor_of(WORKFLOW.studies[wildcards.study]),
        say=lambda wildcards: say(
            WORKFLOW.studies[wildcards.study].engine, f"logs/search_study/{wildcards.study}.log"
        ),
    message:
        "Searching: {wildcards.study}"
    shell:
        "python -m search.study --config {params.config:q} --study {wildcards.study:q}"
        " --out-dir {params.out_dir:q} --executor {params.executor:q} --cluster {params.cluster:q}"
        " {params.say}"
