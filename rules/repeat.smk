rule repeat_runs:
    input:
        code_of("experiments.repeat"),
        engine=lambda wildcards: needs_of(
            WORKFLOW.repeats[wildcards.name].engine,
            *(setting.controller for setting in WORKFLOW.repeats[wildcards.name].settings),
        ),
        network=lambda wildcards: prepared(WORKFLOW.repeats[wildcards.name].network),
        repeat=CONFIG.parent / "repeats/{name}.yaml",
    output:
        multiext(f"{RESULTS}/repeats/{{name}}/", "runs.parquet", "made_by.json"),
    log:
        "logs/repeat_runs/{name}.log",
    benchmark:
        "benchmarks/repeat_runs/{name}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        seed=WORKFLOW.settings.seed,
        out_dir=subpath(output[0], parent=True),
        host=lambda wildcards: host_of(WORKFLOW.repeats[wildcards.name].engine),
        executor=lambda wildcards: executor_of(WORKFLOW.repeats[wildcards.name]),
        cluster=CLUSTER,
        say=lambda wildcards: say(
            WORKFLOW.repeats[wildcards.name].engine, f"logs/repeat_runs/{wildcards.name}.log"
        ),
    message:
        "Repeating: {wildcards.name}"
    shell:
        "python -m experiments.repeat --config {params.config:q} --repeat {wildcards.name:q}"
        " --out-dir {params.out_dir:q} --executor {params.executor:q} --cluster {params.cluster:q}"
        " {params.say}"


rule showcase_run:
    input:
        code_of("experiments.showcase"),
        EMULATE_INPUT,
        controller=built(WORKFLOW.showcase.controller) if WORKFLOW.showcase else [],
        network=prepared(WORKFLOW.showcase.network) if WORKFLOW.showcase else [],
    output:
        multiext(f"{RESULTS}/showcase/", "uplink.log", "run.json", "made_by.json"),
    log:
        "logs/showcase_run/showcase.log",
    benchmark:
        "benchmarks/showcase_run/showcase.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        seed=WORKFLOW.settings.seed,
        showcase=str(WORKFLOW.showcase),
        out_dir=subpath(output[0], parent=True),
    message:
        "Running the showcase with a log"
    shell:
        "python -m experiments.showcase --config {params.config:q} --out-dir {params.out_dir:q}"
        " > {log:q} 2>&1"
