#!/usr/bin/env python3
"""Writes what the examples mp2 and ccsd_t need of a closed-shell molecule, with PySCF (python3 -m pip install pyscf).

    make_molecule.py water cc-pVDZ h2o_ccpvdz "O 0 0 0; H 0 -0.757 0.587; H 0 0.757 0.587"
    build/release/examples/bin/ccsd_t --data h2o_ccpvdz

Files, float64 in C order, atomic units; p q r s atomic orbitals, m molecular ones, i j occupied, a b virtual ones:

    eri_ao.npy     [p,q,r,s]   electron repulsion integrals (pq|rs), chemists' notation
    mo_coeff.npy   [p,m]       molecular orbitals as columns, occupied ones first
    mo_energy.npy  [m]         their energies
    t1.npy t2.npy  [i,a] [i,j,a,b]   CCSD amplitudes over spatial orbitals, all electrons correlated
    reference.json             n_ao n_occ n_virt, and the energies to compare with: e_hf e_mp2_corr e_ccsd_corr e_t
"""
import argparse
import json
import pathlib

import numpy
import pyscf
from pyscf import ao2mo, cc, gto, mp, scf


def main():
    parser = argparse.ArgumentParser(description="Data of a closed-shell molecule for the examples mp2 and ccsd_t.")
    parser.add_argument("name", help="what the molecule is called: water")
    parser.add_argument("basis", help="a basis set that PySCF knows: sto-3g, 6-31g, cc-pVDZ")
    parser.add_argument("folder", type=pathlib.Path, help="where the files go; made if it is not there")
    parser.add_argument("geometry", help='atoms and places in Angstrom: "O 0 0 0; H 0 -0.757 0.587; H 0 0.757 0.587"')
    parser.add_argument("--charge", type=int, default=0)
    given = parser.parse_args()

    molecule = gto.M(atom=given.geometry, basis=given.basis, charge=given.charge, unit="Angstrom", verbose=3)
    if molecule.spin != 0:
        parser.error("the molecule has unpaired electrons; the examples are for closed shells")
    field = scf.RHF(molecule)
    field.conv_tol, field.conv_tol_grad = 1e-13, 1e-9
    field.kernel()
    second_order = mp.MP2(field).run()
    clusters = cc.CCSD(field)
    clusters.conv_tol, clusters.conv_tol_normt, clusters.max_cycle = 1e-12, 1e-11, 200
    clusters.kernel()
    if not (field.converged and clusters.converged):
        parser.exit(1, "not converged; nothing is written\n")
    triples = clusters.ccsd_t()

    given.folder.mkdir(parents=True, exist_ok=True)
    arrays = {
        "eri_ao": ao2mo.restore(1, molecule.intor("int2e"), molecule.nao),
        "mo_coeff": field.mo_coeff,
        "mo_energy": field.mo_energy,
        "t1": clusters.t1,
        "t2": clusters.t2,
    }
    for name, array in arrays.items():
        numpy.save(given.folder / f"{name}.npy", numpy.ascontiguousarray(array, dtype=numpy.float64))
    occupied, virtual = clusters.t1.shape
    reference = {
        "molecule": given.name, "basis": given.basis, "geometry_angstrom": given.geometry, "charge": given.charge,
        "n_ao": int(molecule.nao), "n_occ": occupied, "n_virt": virtual,
        "e_hf": float(field.e_tot), "e_mp2_corr": float(second_order.e_corr), "e_ccsd_corr": float(clusters.e_corr),
        "e_t": float(triples), "made_with": f"PySCF {pyscf.__version__}",
    }
    (given.folder / "reference.json").write_text(json.dumps(reference, indent=1) + "\n")


if __name__ == "__main__":
    main()
