"""The benchmark workloads, written once and spelled for each dialect.

Every kernel is scalar float32 and takes one thread an element. The Python text uses a few neutral
names (`f32`, `sqrt`, `fabs`, `fmin`, `fmax`, `LOAD`, `STORE`) that a dialect replaces; the C text
is common to OpenCL C, GLSL and WGSL but for spelling.

saxpy       y = a * x + y over 2^24 elements
mandelbrot  1024 x 1024 points, up to 256 steps, loop with a break
march       512 x 512 rays against a scene of signed distances, six functions, two loops with breaks
nbody       4096 bodies, structure of arrays, every pair
sgemm       512 x 512, one thread an output
genN        N assignments over 16 variables, straight line, with a nested if every 8
"""

import random
import re

SAXPY_COUNT = 1 << 24
HISTOGRAM_COUNT = 1 << 22
MANDELBROT_SIDE = 1024
MARCH_SIDE = 512
BODIES = 4096
SGEMM_SIDE = 512
GENERATED = (500, 2000, 8000)


# ---- Python text ---------------------------------------------------------------------------------

FUNCTIONS = """
@FUNCTION
def sd_sphere(x, y, z, radius):
    return sqrt(x * x + y * y + z * z) - radius

@FUNCTION
def sd_box(x, y, z, half_x, half_y, half_z):
    qx = fabs(x) - half_x
    qy = fabs(y) - half_y
    qz = fabs(z) - half_z
    ox = fmax(qx, 0.0)
    oy = fmax(qy, 0.0)
    oz = fmax(qz, 0.0)
    return sqrt(ox * ox + oy * oy + oz * oz) + fmin(fmax(qx, fmax(qy, qz)), 0.0)

@FUNCTION
def sd_torus(x, y, z, major, minor):
    q = sqrt(x * x + z * z) - major
    return sqrt(q * q + y * y) - minor

@FUNCTION
def smooth_min(a, b, k):
    h = fmax(k - fabs(a - b), 0.0) / k
    return fmin(a, b) - h * h * k * 0.25

@FUNCTION
def scene(x, y, z):
    d = sd_sphere(x, y - 0.5, z, 0.7)
    d = smooth_min(d, sd_box(x - 1.1, y - 0.4, z, 0.4, 0.4, 0.4), 0.3)
    d = fmin(d, sd_torus(x + 1.3, y - 0.3, z, 0.5, 0.15))
    d = fmin(d, y + 0.2)
    return d

@FUNCTION
def shadow(ox, oy, oz, dx, dy, dz):
    light = VAR(1.0)
    t = VAR(0.05)
    for step in range(24):
        h = scene(ox + dx * t, oy + dy * t, oz + dz * t)
        if h < 0.001:
            light = VAR(0.0)
            break
        light = fmin(light, 8.0 * h / t)
        t = t + h
        if t > 6.0:
            break
    return light
"""

MARCH = """
    x = idx % w
    y = idx // w
    u = (f32(x) - 256.0) / 512.0
    v = (256.0 - f32(y)) / 512.0
    inverse = 1.0 / sqrt(u * u + v * v + 2.25)
    dx = u * inverse
    dy = v * inverse
    dz = 1.5 * inverse
    t = VAR(0.0)
    hit = IVAR(0)
    for step in range(64):
        d = scene(dx * t, 0.8 + dy * t, dz * t - 3.5)
        if d < 0.001:
            hit = IVAR(1)
            break
        t = t + d
        if t > 20.0:
            break
    colour = VAR(0.0)
    if hit == 1:
        px = dx * t
        py = 0.8 + dy * t
        pz = dz * t - 3.5
        e = 0.001
        d0 = scene(px, py, pz)
        nx = scene(px + e, py, pz) - d0
        ny = scene(px, py + e, pz) - d0
        nz = scene(px, py, pz + e) - d0
        nl = 1.0 / sqrt(nx * nx + ny * ny + nz * nz + 0.000000001)
        diffuse = fmax((nx * 0.6 + ny * 0.7 - nz * 0.3) * nl, 0.0)
        lit = VAR(1.0)
        if diffuse > 0.0:
            o = nl * 0.01
            lit = shadow(px + nx * o, py + ny * o, pz + nz * o, 0.6, 0.7, -0.3)
        colour = 0.1 + 0.9 * diffuse * lit
        if py < -0.19:
            colour = colour * 0.5
    else:
        colour = 0.3 + 0.5 * v
    STORE(out, idx, colour)
"""

MANDELBROT = """
    cx = -2.0 + 3.0 * f32(idx % w) / 1024.0
    cy = -1.5 + 3.0 * f32(idx // w) / 1024.0
    zx = VAR(0.0)
    zy = VAR(0.0)
    count = IVAR(0)
    for step in range(256):
        x2 = zx * zx
        y2 = zy * zy
        if x2 + y2 > 4.0:
            break
        zy = 2.0 * zx * zy + cy
        zx = x2 - y2 + cx
        count = count + 1
    STORE(out, idx, f32(count))
"""

SAXPY = """
    STORE(y, idx, a * LOAD(x, idx) + LOAD(y, idx))
"""

EMPTY = """
    STORE(x, idx, a)
"""

NBODY = """
    px = LOAD(p, idx)
    py = LOAD(p, idx + n)
    pz = LOAD(p, idx + n + n)
    ax = VAR(0.0)
    ay = VAR(0.0)
    az = VAR(0.0)
    for j in range(n):
        dx = LOAD(p, j) - px
        dy = LOAD(p, j + n) - py
        dz = LOAD(p, j + n + n) - pz
        inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 0.01)
        f = inverse * inverse * inverse
        ax = ax + dx * f
        ay = ay + dy * f
        az = az + dz * f
    vx = LOAD(v, idx) + ax * 0.0001
    vy = LOAD(v, idx + n) + ay * 0.0001
    vz = LOAD(v, idx + n + n) + az * 0.0001
    STORE(q, idx, px + vx * 0.01)
    STORE(q, idx + n, py + vy * 0.01)
    STORE(q, idx + n + n, pz + vz * 0.01)
"""

SGEMM = """
    i = idx // n
    j = idx % n
    total = VAR(0.0)
    for k in range(n):
        total = total + LOAD(a, i * n + k) * LOAD(b, k * n + j)
    STORE(c, idx, total)
"""

# name: (arrays, scalars, body); scalars as name:type
KERNELS = {
    "saxpy": (("x", "y"), ("a:f",), SAXPY),
    "empty": (("x",), ("a:f",), EMPTY),
    "mandelbrot": (("out",), ("w:i",), MANDELBROT),
    "march": (("out",), ("w:i",), MARCH),
    "nbody": (("p", "v", "q"), ("n:i",), NBODY),
    "sgemm": (("a", "b", "c"), ("n:i",), SGEMM),
}


def generated_statements(count, variables=16, seed=1):
    """Statements of genN: ("set", d, p, c, q, e) for v[d] = v[p] * c + v[q] * e, and nested ifs."""
    source = random.Random(seed)

    def assignment():
        target, left, right = (source.randrange(variables) for _ in range(3))
        factor = round(source.uniform(0.1, 0.6), 4)
        return ("set", target, left, factor, right, round(0.95 - factor, 4))

    def pair():
        return source.randrange(variables), source.randrange(variables)

    statements, made = [], 0
    while made < count:
        statements += [assignment() for _ in range(8)]
        outer = pair()
        first = assignment()
        inner_pair = pair()
        inner = ("if", *inner_pair, [assignment(), assignment()], [assignment()])
        statements.append(
            ("if", *outer, [first, inner, assignment()], [assignment(), assignment()])
        )
        made += 15
    return statements


def generated_lines(count, c_text=False):
    """The lines of genN's statements, in Python or in C."""
    lines = []

    def write(statements, depth):
        pad = ("  " if c_text else "    ") * depth
        for s in statements:
            if s[0] == "set":
                _, d, p, c, q, e = s
                suffix, end = ("f", ";") if c_text else ("", "")
                lines.append(f"{pad}v{d} = v{p} * {c}{suffix} + v{q} * {e}{suffix}{end}")
            elif c_text:
                lines.append(f"{pad}if (v{s[1]} > v{s[2]}) {{")
                write(s[3], depth + 1)
                lines.append(pad + "} else {")
                write(s[4], depth + 1)
                lines.append(pad + "}")
            else:
                lines.append(f"{pad}if v{s[1]} > v{s[2]}:")
                write(s[3], depth + 1)
                lines.append(pad + "else:")
                write(s[4], depth + 1)

    write(generated_statements(count), 1)
    return "\n".join(lines)


def python_kernel(name):
    """(arrays, scalars, body) of a workload in the neutral Python text."""
    if not name.startswith("gen"):
        return KERNELS[name]
    start = "\n".join(f"    v{i} = LOAD(x, idx) * {round(0.3 + 0.1 * i, 2)}" for i in range(16))
    end = "    STORE(y, idx, " + " + ".join(f"v{i}" for i in range(16)) + ")"
    return ("x", "y"), (), f"\n{start}\n{generated_lines(int(name[3:]))}\n{end}\n"


def spell(body, load=r"\1[\2]", variables=True):
    """Array accesses as subscripts; VAR and IVAR dropped where plain numbers will do."""
    body = re.sub(r"\bLOAD\((\w+), ([^()]*)\)", load, body)
    body = re.sub(r"\bSTORE\((\w+), ([^,]*), (.*)\)[ ]*$", r"\1[\2] = \3", body, flags=re.M)
    if variables:
        body = re.sub(r"\bI?VAR\(([\d.]+)\)", r"\1", body)
    return body


def lcpy_source(name, math="ieee"):
    arrays, scalars, body = python_kernel(name)
    types = {"f": "lc.float32", "i": "lc.int32"}
    arguments = [f"{a}: lc.Buffer[lc.float32]" for a in arrays]
    arguments += [f"{s[0]}: {types[s[2]]}" for s in scalars]
    functions = FUNCTIONS.replace("@FUNCTION", "@lc.callable") if name == "march" else ""
    body = spell("    idx = lc.int32(lc.dispatch_id().x)" + body)
    for plain in ("sqrt", "fabs", "fmin", "fmax"):
        pattern = rf"\b{plain}\("
        spelled = f"lc.{plain.removeprefix('f') if plain != 'sqrt' else plain}("
        body, functions = re.sub(pattern, spelled, body), re.sub(pattern, spelled, spell(functions))
    body = body.replace("f32(", "lc.float32(")
    return (
        f"import lcpy as lc\n{functions}\n@lc.kernel(math={math!r})\n"
        f"def {name}({', '.join(arguments)}):\n{body}"
    )


# ---- C text --------------------------------------------------------------------------------------


def to_c(python_text):
    """The neutral Python text as C statements; enough for these workloads, no more."""
    out, stack, declared = [], [], [set()]
    for line in python_text.splitlines():
        if not line.strip() or line.startswith("@"):
            continue
        depth = (len(line) - len(line.lstrip())) // 4
        text = re.sub(r"(?<![\w.])(\d+\.\d+)(?![\w.])", r"\1f", line.strip())
        text = text.replace("//", "/").replace("f32(", "TO_FLOAT(")
        while stack and stack[-1] >= depth:
            stack.pop()
            declared.pop()
            out.append(
                "  " * len(stack)
                + ("}" if text != "else:" or stack and stack[-1] >= depth else "} else {")
            )
        pad = "  " * (len(stack) + (1 if not stack else 0))
        if text.startswith("def "):
            name, arguments = re.match(r"def (\w+)\((.*)\):", text).groups()
            names = [a.strip() for a in arguments.split(",")]
            out.append("float " + name + "(" + ", ".join("float " + a for a in names) + ") {")
            stack.append(depth)
            declared.append(set(names))
            continue
        pad = "  " * (len(stack) + 1)
        if text == "else:":
            stack.append(depth)
            declared.append(set())
        elif text.startswith("for "):
            variable, bound = re.match(r"for (\w+) in range\((\w+)\):", text).groups()
            out.append(f"{pad}for (int {variable} = 0; {variable} < {bound}; {variable}++) {{")
            stack.append(depth)
            declared.append({variable})
        elif text.startswith("if "):
            out.append(f"{pad}if ({text[3:-1]}) {{")
            stack.append(depth)
            declared.append(set())
        elif text in ("break",) or text.startswith("return "):
            out.append(f"{pad}{text};")
        elif m := re.match(r"(\w+) = (.*)$", text):
            name, value = m.groups()
            value = re.sub(r"\bI?VAR\(([^)]*)\)", r"\1", value)
            integer = name in ("hit", "count", "x", "y", "i", "j") and "LOAD" not in value
            kind = "" if any(name in d for d in declared) else ("int " if integer else "float ")
            declared[-1].add(name)
            out.append(f"{pad}{kind}{name} = {value};")
        else:
            out.append(f"{pad}{text};")
    while stack:
        stack.pop()
        out.append("  " * len(stack) + "}")
    text = "\n".join(out)
    text = re.sub(r"\bLOAD\((\w+), ([^()]*)\)", r"\1[\2]", text)
    return re.sub(r"\bSTORE\((\w+), ([^,]*), (.*)\);$", r"\1[\2] = \3;", text, flags=re.M)


def c_kernel(name):
    """(arrays, scalars, functions, body) in C text."""
    if name.startswith("gen"):
        start = "\n".join(f"  float v{i} = x[idx] * {round(0.3 + 0.1 * i, 2)}f;" for i in range(16))
        end = "  y[idx] = " + " + ".join(f"v{i}" for i in range(16)) + ";"
        return (
            ("x", "y"),
            (),
            "",
            f"{start}\n{generated_lines(int(name[3:]), c_text=True)}\n{end}\n",
        )
    arrays, scalars, body = KERNELS[name]
    return arrays, scalars, to_c(FUNCTIONS) if name == "march" else "", to_c(body) + "\n"


def opencl_source(name):
    arrays, scalars, functions, body = c_kernel(name)
    types = {"f": "float", "i": "int"}
    arguments = [f"__global float* {a}" for a in arrays] + [
        f"{types[s[2]]} {s[0]}" for s in scalars
    ]
    text = (
        functions
        + f"\n__kernel void entry({', '.join(arguments)}) {{\n"
        + f"  int idx = get_global_id(0);\n{body}}}\n"
    )
    return text.replace("TO_FLOAT(", "(float)(")


def glsl_source(name, block=256):
    arrays, scalars, functions, body = c_kernel(name)
    types = {"f": "float", "i": "int"}
    # `out` is a keyword of GLSL.
    rename = {"out": "result"}
    lines = [f"#version 450\nlayout(local_size_x = {block}) in;"]
    for i, a in enumerate(arrays):
        a = rename.get(a, a)
        lines.append(f"layout(std430, set = 0, binding = {i}) buffer B{i} {{ float {a}[]; }};")
    members = " ".join(
        f"layout(offset = {16 + 4 * i}) {types[s[2]]} {s[0]};" for i, s in enumerate(scalars)
    )
    if members:
        lines.append(f"layout(push_constant) uniform Push {{ {members} }};")
    text = functions + f"\nvoid main() {{\n  int idx = int(gl_GlobalInvocationID.x);\n{body}}}\n"
    text = text.replace("TO_FLOAT(", "float(").replace("out[idx]", "result[idx]")
    text = re.sub(r"\bf(abs|min|max)\(", r"\1(", text)
    return "\n".join(lines) + "\n" + text


def wgsl_source(name, block=64):
    arrays, scalars, functions, body = c_kernel(name)
    types = {"f": "f32", "i": "i32"}
    lines = [
        f"@group(0) @binding({i}) var<storage, read_write> {a}: array<f32>;"
        for i, a in enumerate(arrays)
    ]
    if scalars:
        members = ", ".join(f"{s[0]}: {types[s[2]]}" for s in scalars)
        lines.append(f"struct Push {{ {members} }};")
        lines.append(f"@group(0) @binding({len(arrays)}) var<uniform> push: Push;")

    def convert(text):
        def signature(m):
            arguments = ", ".join(a.split()[1] + ": f32" for a in m[2].split(","))
            return f"fn {m[1]}({arguments}) -> f32 {{"

        text = re.sub(r"^float (\w+)\(([^)]*)\) \{", signature, text, flags=re.M)
        text = re.sub(r"\bfloat (\w+) =", r"var \1: f32 =", text)
        text = re.sub(r"\bint (\w+) =", r"var \1: i32 =", text)
        return re.sub(r"\bf(abs|min|max)\(", r"\1(", text).replace("TO_FLOAT(", "f32(")

    start = "".join(f"  let {s[0]} = push.{s[0]};\n" for s in scalars)
    return (
        "\n".join(lines) + "\n" + convert(functions) + f"\n@compute @workgroup_size({block})\n"
        "fn entry(@builtin(global_invocation_id) gid: vec3<u32>) {\n  let idx = i32(gid.x);\n"
        + start
        + convert(body)
        + "}\n"
    )
