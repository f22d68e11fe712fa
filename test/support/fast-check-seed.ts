import fc from 'fast-check';
import { SEED } from './random.ts';
import { isSoak } from './soak.ts';

// Before each file: what a property test draws is the same on every machine, on every day.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED, numRuns: isSoak ? 1_000 : 50 });
