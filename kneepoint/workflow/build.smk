# Also builds the configuration's controllers, in parallel; a controller that fails to compile fails
# in its own job. kneepoint/engines/built.py decides which files are built again. An installed tool
# only builds a project's own controllers.
rule build_core:
    input:
        again_unless(is_current(CORE, OWN)),
    output:
        PROGRAMS,
    log:
        f"{LOGS}/build_core/build.log",
    benchmark:
        f"{BENCHMARKS}/build_core/build.tsv"
    priority: 100
    conda:
        str(TOOL / "environment.yml")
    params:
        script=TOOL / "controllers/build.sh",
    message:
        "Building the emulator and the other programs"
    shell:
        "{params.script:q} -- programs $KNEEPOINT_CONTROLLERS > {log:q} 2>&1"
        " || {params.script:q} -- programs > {log:q} 2>&1"


rule build_controller:
    input:
        lambda wildcards: source_if_gone(wildcards.controller),
        lambda wildcards: again_unless(is_current(wildcards.controller, OWN)),
    output:
        f"{BUILT}/controllers/{{controller}}.so",
    log:
        f"{LOGS}/build_controller/{{controller}}.log",
    benchmark:
        f"{BENCHMARKS}/build_controller/{{controller}}.tsv"
    priority: 90  # build_core builds all controllers in parallel
    conda:
        str(TOOL / "environment.yml")
    params:
        script=TOOL / "controllers/build.sh",
    message:
        "Building the controller {wildcards.controller}"
    shell:
        "{params.script:q} -- controller_{wildcards.controller:q} > {log:q} 2>&1"


rule build_own_controller:
    input:
        lambda wildcards: source_if_gone(wildcards.controller),
        lambda wildcards: again_unless(is_current(wildcards.controller, OWN)),
    output:
        f"{OWN_CONTROLLERS}/{{controller}}.so",
    log:
        f"{LOGS}/build_own_controller/{{controller}}.log",
    benchmark:
        f"{BENCHMARKS}/build_own_controller/{{controller}}.tsv"
    priority: 90
    conda:
        str(TOOL / "environment.yml")
    params:
        source=lambda wildcards: source_of_controller(wildcards.controller, OWN),
    message:
        "Building the controller {wildcards.controller}"
    shell:
        "python -m kneepoint.engines.own {params.source:q} > {log:q} 2>&1"
