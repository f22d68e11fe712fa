import type { Phase } from '../../machines/contracts/phase.ts';

/** The six phases in the order of a full cycle, without the schema that they come from. */
export const PHASE_NAMES: readonly Phase[] = [
  'action',
  'experience',
  'intention',
  'observation',
  'understanding',
  'yield',
];
