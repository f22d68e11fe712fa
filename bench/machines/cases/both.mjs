/**
 * Returns a machine twice: as it should be, and with its planted fault.
 *
 * @template Machine
 * @param {(isFaulty: boolean) => Machine} build
 * @returns {[sound: Machine, faulty: Machine]}
 */
export const both = (build) => [build(false), build(true)];
