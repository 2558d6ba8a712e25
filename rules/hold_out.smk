HELD_OUT = WORKFLOW.hold_out
HOLD_OUT_FILES = ["runs.parquet", "settings.parquet", "networks.parquet", "made_by.json"]


rule hold_out_settings:
    input:
        code_of("experiments.hold_out"),
        EMULATE_INPUT,
        built(*WORKFLOW.held_controllers),
        networks=prepared(HELD_OUT.training, *HELD_OUT.networks) if HELD_OUT else [],
        replays=expand(
            f"{RESULTS}/{{study}}/runs.parquet", study=[*WORKFLOW.replays, *WORKFLOW.tunings]
        ),
        tunings=expand(f"{RESULTS}/{{study}}/study.json", study=WORKFLOW.tunings),
    output:
        expand(f"{RESULTS}/hold_out/{{file}}", file=HOLD_OUT_FILES),
    log:
        "logs/hold_out_settings/hold_out.log",
    benchmark:
        "benchmarks/hold_out_settings/hold_out.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        seed=WORKFLOW.settings.seed,
        hold_out=str(HELD_OUT),
        out_dir=subpath(output[0], parent=True),
        cluster=CLUSTER,
    message:
        "Running published and tuned settings on held-out networks"
    shell:
        "python -m experiments.hold_out --config {params.config:q}"
        " --out-dir {params.out_dir:q} --cluster {params.cluster:q} > {log:q} 2>&1"
