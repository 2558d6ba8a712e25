# Everything that takes real time: `make confirm`. Rule all leaves it out, and the report takes in
# what is there. Jobs in real time share the slots that the probe has found (experiments.slots), so several
# may go on at once; what computes comes before them, or when they are through.

CONFIRM = WORKFLOW.confirm

CONFIRMED_INPUT = built(*WORKFLOW.confirmed_controllers)


rule probe_host:
    input:
        code_of("experiments.probe"),
        REAL_INPUT,
        controller=built(WORKFLOW.probe.controller) if WORKFLOW.probe else [],
        network=prepared(WORKFLOW.probe.network) if WORKFLOW.probe else [],
        quiet=lambda _: quiet(),
    output:
        multiext(f"{RESULTS}/probe/", "probe.json", "runs.parquet", "made_by.json"),
    log:
        "logs/probe_host/probe.log",
    benchmark:
        "benchmarks/probe_host/probe.tsv"
    conda:
        "../environment.yml"
    threads: workflow.cores
    params:
        config=CONFIG,
        out_dir=subpath(output[0], parent=True),
        cluster=CLUSTER,
    message:
        "Measuring how many real-time runs this host takes at once"
    shell:
        "python -m experiments.probe --config {params.config:q} --out-dir {params.out_dir:q}"
        " --cluster {params.cluster:q} > >(tee {log:q}) 2>&1"


rule list_contradicted:
    input:
        code_of("reports.contradicted"),
        rules.write_report.input.studies,
        rules.write_report.input.published,
    output:
        f"{RESULTS}/confirm/contradicted.json",
    log:
        "logs/list_contradicted/contradicted.log",
    benchmark:
        "benchmarks/list_contradicted/contradicted.tsv"
    conda:
        "../environment.yml"
    params:
        config=CONFIG,
    message:
        "Listing the rows that the audit contradicts"
    shell:
        "python -m reports.contradicted --config {params.config:q} --out {output:q} > {log:q} 2>&1"


rule confirm_settings:
    input:
        code_of("experiments.confirm"),
        REAL_INPUT,
        CONFIRMED_INPUT,
        probe=lambda _: made("probe") if WORKFLOW.probe else quiet(),
        network=prepared(CONFIRM.network) if CONFIRM else [],
        hold_out=rules.hold_out_settings.output if HELD_OUT else [],
        contradicted=rules.list_contradicted.output,
    output:
        multiext(f"{RESULTS}/confirm/", "settings.parquet", "runs.parquet", "made_by.json"),
    log:
        "logs/confirm_settings/confirm.log",
    benchmark:
        "benchmarks/confirm_settings/confirm.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        seed=WORKFLOW.settings.seed,
        confirm=str(CONFIRM),
        host=host_of("mahimahi"),
        out_dir=subpath(output[0], parent=True),
        cluster=CLUSTER,
    message:
        "Running settings in real mahimahi"
    shell:
        "python -m experiments.confirm --config {params.config:q} --out-dir {params.out_dir:q}"
        " --cluster {params.cluster:q} > >(tee {log:q}) 2>&1"


rule calibrate_host:
    input:
        code_of("search.calibrate"),
        EMULATE_INPUT,
        CONFIRMED_INPUT,
        rules.confirm_settings.output,
        network=prepared(CONFIRM.network) if CONFIRM else [],
        quiet=lambda _: made(*REAL_RUNS) if is_confirming() else [],
    output:
        multiext(
            f"{RESULTS}/calibration/",
            *STUDY_FILES,
            "delays.parquet",
            "spread.parquet",
            "agreement.parquet",
        ),
    log:
        "logs/calibrate_host/calibration.log",
    benchmark:
        "benchmarks/calibrate_host/calibration.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        seed=WORKFLOW.settings.seed,
        confirm=str(CONFIRM),
        out_dir=subpath(output[0], parent=True),
        cluster=CLUSTER,
    message:
        "Fitting the emulated host to real runs"
    shell:
        "python -m search.calibrate --config {params.config:q} --out-dir {params.out_dir:q}"
        " --cluster {params.cluster:q} > {log:q} 2>&1"


rule list_outside:
    input:
        code_of("reports.outside"),
        rules.calibrate_host.output,
    output:
        f"{RESULTS}/again/outside.json",
    log:
        "logs/list_outside/outside.log",
    benchmark:
        "benchmarks/list_outside/outside.tsv"
    conda:
        "../environment.yml"
    params:
        config=CONFIG,
    message:
        "Listing the settings that the emulator does not predict"
    shell:
        "python -m reports.outside --config {params.config:q} --out {output:q} > {log:q} 2>&1"


rule run_again:
    input:
        code_of("experiments.again"),
        REAL_INPUT,
        CONFIRMED_INPUT,
        rules.confirm_settings.output,
        probe=lambda _: made("probe") if WORKFLOW.probe else quiet(),
        network=prepared(CONFIRM.network) if CONFIRM else [],
        outside=rules.list_outside.output,
    output:
        multiext(f"{RESULTS}/again/", "runs.parquet", "made_by.json"),
    log:
        "logs/run_again/again.log",
    benchmark:
        "benchmarks/run_again/again.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        seed=WORKFLOW.settings.seed,
        confirm=str(CONFIRM),
        host=host_of("mahimahi"),
        out_dir=subpath(output[0], parent=True),
        cluster=CLUSTER,
    message:
        "Running again, in real mahimahi, what the emulator does not predict"
    shell:
        "python -m experiments.again --config {params.config:q} --out-dir {params.out_dir:q}"
        " --cluster {params.cluster:q} > >(tee {log:q}) 2>&1"


rule show_real_run:
    input:
        code_of("experiments.showcase"),
        REAL_INPUT,
        controller=built(WORKFLOW.showcase.controller) if WORKFLOW.showcase else [],
        probe=lambda _: made("probe") if WORKFLOW.probe else quiet(),
        network=prepared(WORKFLOW.showcase.network) if WORKFLOW.showcase else [],
    output:
        multiext(f"{RESULTS}/real_showcase/", "uplink.log", "run.json", "made_by.json"),
    log:
        "logs/show_real_run/showcase.log",
    benchmark:
        "benchmarks/show_real_run/showcase.tsv"
    conda:
        "../environment.yml"
    threads: 1
    params:
        config=CONFIG,
        showcase=str(WORKFLOW.showcase),
        out_dir=subpath(output[0], parent=True),
        cluster=CLUSTER,
    message:
        "Running the showcase in real mahimahi"
    shell:
        "python -m experiments.showcase --config {params.config:q} --out-dir {params.out_dir:q}"
        " --engine mahimahi --cluster {params.cluster:q} > >(tee {log:q}) 2>&1"


rule probe:
    input:
        rules.probe_host.output if WORKFLOW.probe else [],


rule confirm:
    input:
        rules.all.input,
        made(*REAL_RESULTS),
