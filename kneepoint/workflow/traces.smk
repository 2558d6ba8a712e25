rule fetch_trace:
    input:
        again=lambda wildcards: again_unless(is_listed(wildcards.trace)),
    output:
        f"{TRACES}/{{trace}}",
    log:
        f"{LOGS}/fetch_trace/{{trace}}.log",
    benchmark:
        f"{BENCHMARKS}/fetch_trace/{{trace}}.tsv"
    conda:
        str(TOOL / "environment.yml")
    params:
        config=CONFIG,
        into=subpath(output[0], parent=True),
        sha256=lambda wildcards: sha256_of_trace(wildcards.trace),
    message:
        "Fetching the trace {wildcards.trace}"
    shell:
        "python -m kneepoint.networks.fetch --config {params.config:q}"
        " --into {params.into:q} {wildcards.trace:q} > {log:q} 2>&1"


# A network may have the host that a study has found on another network.
rule prepare_network:
    input:
        traces=lambda wildcards: [
            f"{TRACES}/{trace}" for trace in load_network(CONFIG, wildcards.network).trace_names
        ],
        check_trace=str(BUILT / "check_trace"),
        synthesize=lambda wildcards: (
            [str(BUILT / "synthesize")]
            if load_network(CONFIG, wildcards.network).is_synthetic
            else []
        ),
        fitted=lambda wildcards: fitted_for(wildcards.network),
        again=lambda wildcards: again_unless(is_sealed(f"{NETWORKS}/{wildcards.network}")),
    output:
        multiext(
            f"{NETWORKS}/{{network}}/",
            "uplink.trace",
            "downlink.trace",
            "network.json",
            "description.json",
        ),
    log:
        f"{LOGS}/prepare_network/{{network}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_network/{{network}}.tsv"
    conda:
        str(TOOL / "environment.yml")
    params:
        config=CONFIG,
        into=subpath(output[0], parent=True),
        fitted=lambda wildcards: [f"--fitted={file}" for file in fitted_for(wildcards.network)],
        code=code.digest_of_step("kneepoint.networks.prepare"),
        reads=lambda wildcards: digest_of_network(wildcards.network),
    message:
        "Preparing the network {wildcards.network}"
    shell:
        "python -m kneepoint.networks.prepare --config {params.config:q} --network {wildcards.network:q}"
        " --into {params.into:q} {params.fitted:q} > {log:q} 2>&1"
