# Also compiles all controllers in parallel, so that their own jobs only need to link them; a controller
# that fails to compile fails in its own job.
rule build_core:
    input:
        CORE_CODE,
    output:
        *sum(REAL_PROGRAMS.values(), []),
        emulate="build/emulate",
        synthesize="build/synthesize",
        check_trace="build/check_trace",
        confine="build/confine",
        entry="build/entry",
        entry_sender="build/entry-sender",
        python_entry="build/python_entry.so",
        python_entry_real="build/python_entry_real.so",
        python_sender="build/python_sender.py",
    log:
        "logs/build_core/build.log",
    benchmark:
        "benchmarks/build_core/build.tsv"
    priority: 100
    conda:
        "../environment.yml"
    message:
        "Building the emulator and the other programs"
    shell:
        "rules/build.sh -- programs controller_objects > {log:q} 2>&1"
        " || rules/build.sh -- programs > {log:q} 2>&1"


rule build_controller:
    input:
        lambda wildcards: code_of_controller(wildcards.controller),
    output:
        "build/controllers/{controller}.so",
    log:
        "logs/build_controller/{controller}.log",
    benchmark:
        "benchmarks/build_controller/{controller}.tsv"
    priority: 90  # build_core compiles all controllers in parallel
    conda:
        "../environment.yml"
    params:
        own=WORKFLOW.own_sources.resolve(),
    message:
        "Building the controller {wildcards.controller}"
    shell:
        "rules/build.sh -DKNEEPOINT_OWN_CONTROLLERS={params.own:q} -- controller_{wildcards.controller:q} > {log:q} 2>&1"
