rule repeat_runs:
    input:
        lambda wildcards: needs_of(WORKFLOW.repeats[wildcards.name].engine),
        emulate="build/emulate",
        network=lambda wildcards: expand(
            "build/networks/{network}/network.json",
            network=WORKFLOW.repeats[wildcards.name].network,
        ),
        repeat=CONFIG.parent / "repeats/{name}.yaml",
    output:
        f"{RESULTS}/repeats/{{name}}/runs.parquet",
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
        "python -m search.repeat --config {params.config} --repeat {wildcards.name}"
        " --out-dir {params.out_dir} --executor {params.executor} --cluster {params.cluster}"
        " {params.say}"


rule showcase_run:
    input:
        emulate="build/emulate",
        network=(
            f"build/networks/{WORKFLOW.showcase.network}/network.json" if WORKFLOW.showcase else []
        ),
    output:
        multiext(f"{RESULTS}/showcase/", "uplink.log", "run.json"),
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
        "python -m search.showcase --config {params.config} --out-dir {params.out_dir}"
        " > {log} 2>&1"
