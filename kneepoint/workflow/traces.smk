rule fetch_trace:
    input:
        intact=lambda wildcards: noted_trace(wildcards.trace),
    output:
        "build/traces/{trace}",
    log:
        "logs/fetch_trace/{trace}.log",
    benchmark:
        "benchmarks/fetch_trace/{trace}.tsv"
    conda:
        "../../environment.yml"
    params:
        config=CONFIG,
        into=subpath(output[0], parent=True),
        sha256=lambda wildcards: sha256_of_trace(wildcards.trace),
    message:
        "Fetching the trace {wildcards.trace}"
    shell:
        "python -m kneepoint.networks.fetch --config {params.config:q}"
        " --into {params.into:q} {wildcards.trace:q} > {log:q} 2>&1"


# A network may have the host that a study found on another one.
rule prepare_network:
    input:
        lambda wildcards: when_built(*behind(*fits_for(wildcards.network))),
        traces=lambda wildcards: made_each(
            f"build/traces/{trace}"
            for trace in load_network(CONFIG, wildcards.network).trace_names
        ),
        check_trace=made("build/check_trace", ["build/check_trace"]),
        synthesize=lambda wildcards: made_each(
            ["build/synthesize"] if load_network(CONFIG, wildcards.network).is_synthetic else []
        ),
        fitted=lambda wildcards: made_each(fitted_for(wildcards.network)),
        code=code_of("kneepoint.networks.prepare"),
        made_of=lambda wildcards: noted_network(wildcards.network),
        intact=lambda wildcards: noted_sealed(f"{NETWORKS}/{wildcards.network}"),
    output:
        multiext(
            "build/networks/{network}/",
            "uplink.trace",
            "downlink.trace",
            "network.json",
            "description.json",
        ),
    log:
        "logs/prepare_network/{network}.log",
    benchmark:
        "benchmarks/prepare_network/{network}.tsv"
    conda:
        "../../environment.yml"
    params:
        config=CONFIG,
        into=subpath(output[0], parent=True),
        fitted=lambda wildcards: [f"--fitted={file}" for file in fitted_for(wildcards.network)],
    message:
        "Preparing the network {wildcards.network}"
    shell:
        "python -m kneepoint.networks.prepare --config {params.config:q} --network {wildcards.network:q}"
        " --into {params.into:q} {params.fitted:q} > {log:q} 2>&1"
