"""Judges the convex problems that plan_qps has solved: the conditions of the optimum from raw data, and PIQP, another
solver, on the same problems; prints both solvers' times.

    plan_piqp.py PLAN_QPS      exit 0 when all hold, 77 where numpy, scipy or PIQP is not installed, 1 otherwise
"""
import glob
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import piqp
    import scipy.sparse as sp
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

TOLERANCE = 1e-9


class Problem:
    """min g·p + ½ p·H p + Σ above max(r, 0) + below max(−r, 0),  r = A p + c,  |p| ≤ radius, with an answer p, y."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            def ints(n): return np.fromfile(file, np.int32, n)
            def reals(n): return np.fromfile(file, np.float64, n)
            stages, self.n, self.m, entries, hess, self.iterations = (int(v) for v in ints(6))
            z_at, start, col = ints(stages + 1), ints(self.m + 1), ints(entries)
            self.radius, self.objective, self.gap, self.time = (float(v) for v in reals(4))
            blocks, self.g, jac, self.c = reals(hess), reals(self.n), reals(entries), reals(self.m)
            self.above, self.below, self.p, self.y = reals(self.m), reals(self.m), reals(self.n), reals(self.m)
        sizes = np.diff(z_at)
        ends = np.cumsum(sizes ** 2)
        self.H = sp.block_diag([blocks[e - s * s:e].reshape(s, s) for s, e in zip(sizes, ends)], format='csc')
        self.A = sp.csr_matrix((jac, col, start), shape=(self.m, self.n))

    def value(self, p):
        r = self.A @ p + self.c
        return self.g @ p + .5 * p @ (self.H @ p) + self.above @ np.maximum(r, 0) + self.below @ np.maximum(-r, 0)

    def residual(self):
        """How far p and y are from the optimum: the duality gap with the best multipliers of the bounds, over 1 and the
        value, less what rounding alone can make of it; and how far they are outside their boxes."""
        r = self.A @ self.p + self.c
        d = self.g + self.H @ self.p + self.A.T @ self.y
        y = np.clip(self.y, -self.below, self.above)
        gap = (self.above * np.maximum(r, 0) + self.below * np.maximum(-r, 0) - y * r).sum()
        gap += (self.radius * np.abs(d) + d * self.p).sum()
        size = np.maximum(self.above, self.below)
        terms = size @ (abs(self.A) @ np.abs(self.p) + np.abs(self.c))
        outside = max((np.abs(self.p) - self.radius).max(), (np.abs(self.y - y) / (1 + size)).max(), 0)
        return max(0, gap - 2.3e-16 * terms) / (1 + abs(self.value(self.p))), outside

    def piqp(self):
        """PIQP on the form with slacks r = v − w; its answer's value and the processor time of its solve."""
        both = self.above > 0
        E, F = self.A[both], self.A[~both]
        ne, nf, n = E.shape[0], F.shape[0], self.n
        P = sp.block_diag([self.H, sp.csc_matrix((2 * ne + nf,) * 2)], format='csc')
        A = sp.hstack([E, -sp.eye(ne), sp.eye(ne), sp.csr_matrix((ne, nf))], format='csc')
        G = sp.hstack([F, sp.csr_matrix((nf, 2 * ne)), sp.eye(nf)], format='csc')
        cost = np.concatenate([self.g, self.above[both], self.below[both], self.below[~both]])
        low = np.concatenate([np.full(n, -self.radius), np.zeros(2 * ne + nf)])
        high = np.concatenate([np.full(n, self.radius), np.full(2 * ne + nf, np.inf)])
        solver = piqp.SparseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = TOLERANCE
        solver.settings.check_duality_gap = True
        solver.setup(P, cost, A, -self.c[both], G, -self.c[~both], np.full(nf, np.inf), low, high)
        before = time.process_time()
        solver.solve()
        spent = time.process_time() - before
        p = np.clip(np.nan_to_num(solver.result.x[:n]), -self.radius, self.radius)
        return self.value(p), spent, 'SOLVED' in str(solver.result.info.status)


def judge(path):
    """One line; whether all holds."""
    q = Problem(path)
    value, spent, is_solved = q.piqp()
    own = q.value(q.p)
    excess = (own - value) / (1 + abs(own))
    residual, outside = q.residual()
    holds = residual <= TOLERANCE and outside <= TOLERANCE and excess <= 1e-8
    print(f'{os.path.basename(path):24s} own {1e3 * q.time:8.2f} ms {q.iterations:3d} it  PIQP {1e3 * spent:8.2f} ms'
          f'{"" if is_solved else " (not solved)":13s}  residual {residual:.1e}'
          f'  objective over PIQP\'s {excess:+.1e}{"" if holds else "  <-- WRONG"}')
    return holds, q.time / spent, os.path.basename(path).split('-')[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        results = [judge(path) for path in sorted(glob.glob(folder + '/*.qp'))]
    for name in sorted({r[2] for r in results}):
        print(f'{name:12s} median time over PIQP\'s {np.median([r[1] for r in results if r[2] == name]):.2f}')
    return 0 if results and all(r[0] for r in results) else 1


if __name__ == '__main__':
    sys.exit(main())
