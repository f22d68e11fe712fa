import { answerCases } from './answer-cases.ts';
import { attemptCases } from './attempt-cases.ts';
import { chainCases } from './chain-cases.ts';

/** Every contract that is data. */
export const contractCases = [...chainCases, ...attemptCases, ...answerCases];
