import type { AnyActorLogic } from 'xstate';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import type { ActionInput } from '../../../machines/contracts/action-state.ts';
import type { ArgumentsCheck } from '../../../machines/contracts/capability.ts';
import { activeActors } from '../exploration/occurrence.ts';
import { pureSteps } from '../exploration/pure-steps.ts';
import { stubActor, withStubActors } from '../exploration/stub-actors.ts';

const FITS: ArgumentsCheck = { ok: true, arguments: {} };

/**
 * A capability loop whose first capability runs, and does not end by itself; without a capability to run, one that has only begun. The
 * chain breaks a loop off by what it has come to.
 */
export const loopUnderWay = {
  ...stubActor,
  getInitialSnapshot(scope, input) {
    const asked = input as ActionInput;
    const [capability] = asked.input.capabilities;
    if (capability === undefined) return stubActor.getInitialSnapshot(scope, input);
    const steps = pureSteps(withStubActors(actionMachine));
    const validating = steps.begin({ ...asked, call: { capability: capability.name, arguments: '{}' } });
    const [{ id } = { id: '' }] = activeActors(validating);
    return steps.after(validating, { type: `xstate.done.actor.${id}`, output: FITS } as never);
  },
} as AnyActorLogic;
