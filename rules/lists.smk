# What analysis asks real runs for.

PUBLISHED = sorted(str(path) for path in (CONFIG.parent / "published").glob("*"))


rule list_contradicted:
    input:
        code_of("reports.contradicted"),
        results_of(*names(False, STUDY)),
        PUBLISHED,
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


rule list_outside:
    input:
        code_of("reports.outside"),
        results_of("agreement") if WORKFLOW.confirm else [],
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
