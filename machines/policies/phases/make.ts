import type { ChainState } from '../../contracts/chain-state.ts';
import type { Phase } from '../../contracts/phase.ts';
import type { ActionResult } from '../../contracts/phases/action.ts';
import type { ExperienceReply } from '../../contracts/phases/experience.ts';
import type { IntentionReply } from '../../contracts/phases/intention.ts';
import type { ObservationReply } from '../../contracts/phases/observation.ts';
import type { YieldReply } from '../../contracts/phases/yield.ts';
import { visibleMessages } from '../progress.ts';
import { makeAction } from './action.ts';
import { makeExperience } from './experience.ts';
import { makeIntention } from './intention.ts';
import { makeObservation } from './observation.ts';
import type { PhaseOutput } from './phase-output.ts';
import { makeUnderstanding } from './understanding.ts';
import { makeYield } from './yield.ts';

/** What a phase makes of its value. The value was validated against the phase's schema when it came in. */
export function makePhase(state: ChainState, phase: Phase, value: unknown): PhaseOutput {
  const atMs = state.lastMessageAtMs;
  switch (phase) {
    case 'action':
      return makeAction(state, value as Omit<ActionResult, 'phase' | 'step'>, atMs);
    case 'experience':
      return makeExperience(state, value as ExperienceReply, atMs);
    case 'intention':
      return makeIntention(state, visibleMessages(state), value as IntentionReply, atMs);
    case 'observation':
      return makeObservation(state, visibleMessages(state), value as ObservationReply, atMs);
    case 'understanding':
      return makeUnderstanding(state, visibleMessages(state));
    case 'yield':
      return makeYield(state, visibleMessages(state), value as YieldReply, atMs);
    default: {
      const never: never = phase;
      return never;
    }
  }
}
