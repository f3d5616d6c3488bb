// What llvm-objdump and llvm-mca say of small kernels, cut short.
#pragma once

namespace strop {

// float s = 0; for (long i = 0; i < n; ++i) s += a[i] * b[i]; -O3 -march=x86-64-v4 -ffast-math
inline constexpr const char* dot_x86 = R"(dot.so:	file format elf64-x86-64

Disassembly of section .plt.got:

0000000000001030 <__cxa_finalize@plt>:
    1030:      	jmp	qword ptr [rip + 0x2f92] # 0x3fc8 <__gmon_start__+0x3fc8>
    1036:      	nop

Disassembly of section .text:

0000000000001100 <dot>:
; dot():
; /home/kernels/dot.cpp:3
    1100:      	test	rdx, rdx
    1103:      	jle	0x1116 <dot+0x16>
    1105:      	cmp	rdx, 0x1f
    1109:      	ja	0x111b <dot+0x1b>
    110b:      	vxorps	xmm0, xmm0, xmm0
    110f:      	xor	eax, eax
    1111:      	jmp	0x11b0 <dot+0xb0>
    1116:      	vxorps	xmm0, xmm0, xmm0
; /home/kernels/dot.cpp:5
    111a:      	ret
    111b:      	movabs	rax, 0x7fffffffffffffe0
; /home/kernels/dot.cpp:3
    1125:      	and	rax, rdx
    1128:      	vxorps	xmm0, xmm0, xmm0
    112c:      	xor	ecx, ecx
    112e:      	vxorps	xmm1, xmm1, xmm1
    1132:      	vxorps	xmm2, xmm2, xmm2
    1136:      	vxorps	xmm3, xmm3, xmm3
    113a:      	nop	word ptr [rax + rax]
; /home/kernels/dot.cpp:4
    1140:      	vmovups	ymm4, ymmword ptr [rsi + 4*rcx]
    1145:      	vmovups	ymm5, ymmword ptr [rsi + 4*rcx + 0x20]
    114b:      	vmovups	ymm6, ymmword ptr [rsi + 4*rcx + 0x40]
    1151:      	vmovups	ymm7, ymmword ptr [rsi + 4*rcx + 0x60]
    1157:      	vfmadd231ps	ymm0, ymm4, ymmword ptr [rdi + 4*rcx] # ymm0 = (ymm4 * mem) + ymm0
    115d:      	vfmadd231ps	ymm1, ymm5, ymmword ptr [rdi + 4*rcx + 0x20] # ymm1 = (ymm5 * mem) + ymm1
    1164:      	vfmadd231ps	ymm2, ymm6, ymmword ptr [rdi + 4*rcx + 0x40] # ymm2 = (ymm6 * mem) + ymm2
    116b:      	vfmadd231ps	ymm3, ymm7, ymmword ptr [rdi + 4*rcx + 0x60] # ymm3 = (ymm7 * mem) + ymm3
; /home/kernels/dot.cpp:3
    1172:      	add	rcx, 0x20
    1176:      	cmp	rax, rcx
    1179:      	jne	0x1140 <dot+0x40>
    117b:      	vaddps	ymm0, ymm1, ymm0
    117f:      	vaddps	ymm1, ymm3, ymm2
    1183:      	vaddps	ymm0, ymm1, ymm0
    1187:      	vextractf128	xmm1, ymm0, 0x1
    118d:      	vaddps	xmm0, xmm0, xmm1
    1191:      	vshufpd	xmm1, xmm0, xmm0, 0x1   # xmm1 = xmm0[1,0]
    1196:      	vaddps	xmm0, xmm0, xmm1
    119a:      	vmovshdup	xmm1, xmm0      # xmm1 = xmm0[1,1,3,3]
    119e:      	vaddss	xmm0, xmm0, xmm1
    11a2:      	cmp	rax, rdx
    11a5:      	je	0x11c3 <dot+0xc3>
    11a7:      	nop	word ptr [rax + rax]
; /home/kernels/dot.cpp:4
    11b0:      	vmovss	xmm1, dword ptr [rsi + 4*rax]
    11b5:      	vfmadd231ss	xmm0, xmm1, dword ptr [rdi + 4*rax] # xmm0 = (xmm1 * mem) + xmm0
; /home/kernels/dot.cpp:3
    11bb:      	inc	rax
    11be:      	cmp	rdx, rax
    11c1:      	jne	0x11b0 <dot+0xb0>
; /home/kernels/dot.cpp:5
    11c3:      	vzeroupper
    11c6:      	ret
)";

inline constexpr const char* dot_aarch64 = R"(dot.a64.o:	file format elf64-littleaarch64

Disassembly of section .text:

0000000000000000 <dot>:
; dot():
; /home/kernels/dot.cpp:3
       0:      	cmp	x2, #0x1
       4:      	b.lt	0x1c <dot+0x1c>
       8:      	cmp	x2, #0x7
       c:      	b.hi	0x24 <dot+0x24>
      10:      	movi	d0, #0000000000000000
      14:      	mov	x8, xzr
      18:      	b	0x70 <dot+0x70>
      1c:      	movi	d0, #0000000000000000
; /home/kernels/dot.cpp:5
      20:      	ret
      24:      	movi	v0.2d, #0000000000000000
      28:      	movi	v1.2d, #0000000000000000
; /home/kernels/dot.cpp:3
      2c:      	and	x8, x2, #0x7ffffffffffffff8
      30:      	add	x9, x0, #0x10
      34:      	add	x10, x1, #0x10
      38:      	mov	x11, x8
; /home/kernels/dot.cpp:4
      3c:      	ldp	q2, q3, [x9, #-0x10]
; /home/kernels/dot.cpp:3
      40:      	subs	x11, x11, #0x8
; /home/kernels/dot.cpp:4
      44:      	ldp	q4, q5, [x10, #-0x10]
; /home/kernels/dot.cpp:3
      48:      	add	x9, x9, #0x20
      4c:      	add	x10, x10, #0x20
; /home/kernels/dot.cpp:4
      50:      	fmla	v0.4s, v4.4s, v2.4s
      54:      	fmla	v1.4s, v5.4s, v3.4s
; /home/kernels/dot.cpp:3
      58:      	b.ne	0x3c <dot+0x3c>
      5c:      	fadd	v0.4s, v1.4s, v0.4s
      60:      	cmp	x8, x2
      64:      	faddp	v0.4s, v0.4s, v0.4s
      68:      	faddp	s0, v0.2s
      6c:      	b.eq	0x94 <dot+0x94>
      70:      	lsl	x10, x8, #2
      74:      	sub	x8, x2, x8
      78:      	add	x9, x1, x10
      7c:      	add	x10, x0, x10
; /home/kernels/dot.cpp:4
      80:      	ldr	s1, [x10], #0x4
; /home/kernels/dot.cpp:3
      84:      	subs	x8, x8, #0x1
; /home/kernels/dot.cpp:4
      88:      	ldr	s2, [x9], #0x4
      8c:      	fmadd	s0, s2, s1, s0
      90:      	b.ne	0x80 <dot+0x80>
; /home/kernels/dot.cpp:5
      94:      	ret
)";

// Two nested loops; the inner one says `continue` twice, and one of these calls a cold function before it.
inline constexpr const char* walk_x86 = R"(cont.o:	file format elf64-x86-64

Disassembly of section .text:

0000000000000000 <walk>:
; walk():
; /home/kernels/cont.cpp:4
       0:      	test	rdx, rdx
       3:      	jle	0xb0 <walk+0xb0>
       9:      	push	r15
       b:      	push	r14
       d:      	push	r13
       f:      	push	r12
      11:      	push	rbx
      12:      	sub	rsp, 0x10
      16:      	vxorps	xmm2, xmm2, xmm2
      1a:      	xor	r14d, r14d
      1d:      	vmovss	xmm3, dword ptr [rip]   # 0x25 <walk+0x25>
      25:      	vxorps	xmm0, xmm0, xmm0
      29:      	jmp	0x38 <walk+0x38>
      2b:      	nop	dword ptr [rax + rax]
      30:      	inc	r14
      33:      	cmp	r14, rdx
      36:      	je	0xa2 <walk+0xa2>
; /home/kernels/cont.cpp:5
      38:      	mov	eax, dword ptr [rsi + 4*r14]
      3c:      	test	eax, eax
      3e:      	jle	0x30 <walk+0x30>
      40:      	xor	ebx, ebx
      42:      	jmp	0x8b <walk+0x8b>
      44:      	mov	r15, rdi
; /home/kernels/cont.cpp:7
      47:      	mov	edi, ebx
      49:      	mov	r12, rdx
      4c:      	mov	r13, rsi
      4f:      	vmovss	dword ptr [rsp + 0xc], xmm0
      55:      	call	0x5a <walk+0x5a>
      5a:      	vmovss	xmm3, dword ptr [rip]   # 0x62 <walk+0x62>
      62:      	vxorps	xmm2, xmm2, xmm2
      66:      	vmovss	xmm0, dword ptr [rsp + 0xc]
      6c:      	mov	rdi, r15
      6f:      	mov	rsi, r13
      72:      	mov	rdx, r12
; /home/kernels/cont.cpp:5
      75:      	mov	eax, dword ptr [r13 + 4*r14]
      7a:      	nop	word ptr [rax + rax]
      80:      	inc	rbx
      83:      	movsxd	rcx, eax
      86:      	cmp	rbx, rcx
      89:      	jge	0x30 <walk+0x30>
; /home/kernels/cont.cpp:6
      8b:      	vmovss	xmm1, dword ptr [rdi + 4*rbx]
      90:      	vucomiss	xmm2, xmm1
      94:      	ja	0x80 <walk+0x80>
; /home/kernels/cont.cpp:7
      96:      	vucomiss	xmm1, xmm3
      9a:      	ja	0x44 <walk+0x44>
; /home/kernels/cont.cpp:8
      9c:      	vaddss	xmm0, xmm0, xmm1
      a0:      	jmp	0x80 <walk+0x80>
      a2:      	add	rsp, 0x10
      a6:      	pop	rbx
      a7:      	pop	r12
      a9:      	pop	r13
      ab:      	pop	r14
      ad:      	pop	r15
; /home/kernels/cont.cpp:10
      af:      	ret
      b0:      	vxorps	xmm0, xmm0, xmm0
; /home/kernels/cont.cpp:10
      b4:      	ret
)";

// 16 independent multiply-adds on two units.
inline constexpr const char* multiply_adds_model = R"(Iterations:        200
Instructions:      3600
Total Cycles:      1606
Total uOps:        3600

Dispatch Width:    6
uOps Per Cycle:    2.24
IPC:               2.24
Block RThroughput: 8.0


Cycles with backend pressure increase [ 97.63% ]
Throughput Bottlenecks:
  Resource Pressure       [ 97.63% ]
  - Zn4FP0  [ 97.63% ]
  - Zn4FP1  [ 97.63% ]
  Data Dependencies:      [ 12.39% ]
  - Register Dependencies [ 12.39% ]
  - Memory Dependencies   [ 0.00% ]


Resources:
[0]   - Zn4AGU0
[1]   - Zn4AGU1
[2]   - Zn4AGU2
[3]   - Zn4ALU0
[4]   - Zn4ALU1
[5]   - Zn4ALU2
[6]   - Zn4ALU3
[7]   - Zn4BRU1
[8]   - Zn4FP0
[9]   - Zn4FP1
[10]  - Zn4FP2
[11]  - Zn4FP3
[12.0] - Zn4FP45
[12.1] - Zn4FP45
[13]  - Zn4FPSt
[14.0] - Zn4LSU
[14.1] - Zn4LSU
[14.2] - Zn4LSU
[15.0] - Zn4Load
[15.1] - Zn4Load
[15.2] - Zn4Load
[16.0] - Zn4Store
[16.1] - Zn4Store


Resource pressure per iteration:
[0]    [1]    [2]    [3]    [4]    [5]    [6]    [7]    [8]    [9]    [10]   [11]   [12.0] [12.1] [13]   [14.0] [14.1] [14.2] [15.0] [15.1] [15.2] [16.0] [16.1]
 -      -      -     0.50   0.33   0.34   0.34   0.50   8.00   8.00    -      -      -      -      -      -      -      -      -      -      -      -      -
)";

inline constexpr const char* dot_model = R"(Iterations:        200
Instructions:      1400
Total Cycles:      811
Total uOps:        1400

Dispatch Width:    6
uOps Per Cycle:    1.73
IPC:               1.73
Block RThroughput: 2.0


Cycles with backend pressure increase [ 69.17% ]
Throughput Bottlenecks:
  Resource Pressure       [ 3.33% ]
  - Zn4FP45  [ 3.33% ]
  Data Dependencies:      [ 68.80% ]
  - Register Dependencies [ 68.80% ]
  - Memory Dependencies   [ 0.00% ]
)";

}  // namespace strop
