# Also compiles all controllers in parallel, so that their own jobs only need to link them, unless
# KNEEPOINT_OBJECTS names few; a controller that fails to compile fails in its own job. See
# kneepoint/engines/built.py for what is built again.
checkpoint build_core:
    input:
        note_build(CORE, OWN, PROGRAMS),
    output:
        PROGRAMS,
    log:
        "logs/build_core/build.log",
    benchmark:
        "benchmarks/build_core/build.tsv"
    priority: 100
    conda:
        "../../environment.yml"
    message:
        "Building the emulator and the other programs"
    shell:
        "controllers/build.sh -- programs $KNEEPOINT_OBJECTS > {log:q} 2>&1"
        " || controllers/build.sh -- programs > {log:q} 2>&1"


checkpoint build_controller:
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
        "../../environment.yml"
    message:
        "Building the controller {wildcards.controller}"
    shell:
        "controllers/build.sh -- controller_{wildcards.controller:q} > {log:q} 2>&1"
