rule build_controllers:
    input:
        PROGRAMS_CODE,
    output:
        *REAL_PROGRAMS,
        emulate="build/emulate",
        synthesize="build/synthesize",
        check_trace="build/check_trace",
    log:
        "logs/build_controllers/build.log",
    benchmark:
        "benchmarks/build_controllers/build.tsv"
    priority: 100
    conda:
        "../environment.yml"
    message:
        "Building the controllers and the emulator"
    shell:
        """
        (
            rules/check_compiler.sh
            cmake -S controllers -B build -G Ninja -DCMAKE_BUILD_TYPE=Release
            cmake --build build --target programs
        ) >{log:q} 2>&1
        """
