import type { SynthesisReply } from '../synthesis.ts';
import type { ActionReply } from './action.ts';
import type { ExperienceReply } from './experience.ts';
import type { IntentionReply } from './intention.ts';
import type { ObservationReply } from './observation.ts';
import type { UnderstandingReply } from './understanding.ts';
import type { YieldReply } from './yield.ts';

/** What a model says, task by task. */
export interface Replies {
  readonly action: ActionReply;
  readonly experience: ExperienceReply;
  readonly intention: IntentionReply;
  readonly observation: ObservationReply;
  readonly understanding: UnderstandingReply;
  readonly yield: YieldReply;
  readonly synthesis: SynthesisReply;
}
