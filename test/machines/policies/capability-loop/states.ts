import { initialActionState } from '../../../../machines/action/setup.ts';
import type { ActionState } from '../../../../machines/contracts/action-state.ts';
import { actionInput } from '../../action/action-rig.ts';

/** A loop as it begins, with these changes. */
export function aLoop(changes: Partial<ActionState> = {}): ActionState {
  return { ...initialActionState(actionInput(['draft', 'review'])), ...changes };
}
