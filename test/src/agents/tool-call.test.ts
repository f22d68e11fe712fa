import { describe, expect, it } from 'vitest';
import { toolCallMachine } from '../../../src/agents/tool-call.machine.ts';
import {
  alwaysEventually,
  describeFinding,
  done,
  explore,
  fails,
  findingsOf,
  noDeadEnd,
  noUnhandledError,
  type Occurrence,
  precedes,
} from '../../../src/entries/testing.ts';

const valid = (needsApproval: boolean) => done({ ok: true, arguments: { cents: 900 }, needsApproval }, 'valid');
const invalid = done({ ok: false, problem: 'cents: expected an integer', code: 'arguments_misfit' }, 'invalid');
const ran = { success: true, output: 'refunded', error: null, code: null };
const decided = (decision: string, isEdited: boolean) => ({
  decision,
  isEdited,
  question: { tool: 'refund', arguments: { cents: 800 } },
  reason: null,
  by: null,
});

/** Everything that a tool call can do. The tool needs approval, or not. */
const calls = (needsApproval: boolean) =>
  explore(toolCallMachine, {
    inputs: { call: { call: { id: 'c1', tool: 'refund', arguments: '{"cents":900}' }, toolMs: 1_000 } },
    outcomes: {
      checkCall: [valid(needsApproval), invalid, fails()],
      approval: [
        done(decided('approve', false), 'approved'),
        done(decided('approve', true), 'approved with other arguments'),
        done(decided('deny', false), 'denied'),
      ],
      executeTool: [done(ran), done({ ...ran, success: false, error: 'no money', code: 'threw' }, 'failed'), fails()],
    },
  });

const approved = ({ name }: Occurrence): boolean => name.startsWith('approval: approved');

const failing = (needsApproval: boolean): readonly string[] =>
  findingsOf(calls(needsApproval), [
    noDeadEnd,
    noUnhandledError,
    precedes({ event: approved }, { state: 'running' }, 'each'),
    ...(needsApproval ? [precedes({ event: 'approval: denied' }, { state: 'running' }, 'never')] : []),
    alwaysEventually('ended or waiting for a person', (state) => state.status === 'done' || state.matches('asking')),
  ]).flatMap((finding) => (finding.witness === null ? [] : [describeFinding(finding)]));

describe('a tool call of a model', () => {
  it('never runs a tool that needs approval before its approval, nor after a denial, and always ends', () => {
    expect(failing(true)).toEqual([]);
  });

  it('runs a tool that needs no approval without one', () => {
    expect(failing(false)).toEqual([
      'FAILS: event "approved" before each state "running": state "running" happens without event "approved" (which never happens), in "running", after call → checkCall: valid',
    ]);
  });
});
