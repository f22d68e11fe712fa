import type { Phase } from '../../../machines/contracts/phase.ts';

/** The six phases, in the order of a full cycle. The schema that has them too would bring its library into the page. */
export const PHASES: readonly Phase[] = ['action', 'experience', 'intention', 'observation', 'understanding', 'yield'];
