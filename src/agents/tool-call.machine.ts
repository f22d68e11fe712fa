import { assign, setup } from 'xstate';
import type { ArgumentsCheck, CapabilityFailure, CapabilityRunResult } from '../../machines/contracts/capability.ts';
import type { GuardResult } from '../../machines/contracts/decision.ts';
import { guardsOf } from '../../machines/guards.ts';
import { missingActor } from '../../machines/missing-actor.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { type ApprovalDecision, approval } from '../durable/approval.ts';
import type { promiseActivity } from '../llm/activities.ts';

/** A call as the model wrote it. */
export interface AskedCall {
  /** The provider's id, or one of our own. */
  readonly id: string;
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
}

/** The result of one call, as the model reads it. */
export interface ToolResult extends AskedCall {
  readonly success: boolean;
  /** What the tool returned, or what went wrong. */
  readonly output: string;
  /** Why the call failed; null if it did not. */
  readonly code: CapabilityFailure | null;
}

export interface ToolCallInput {
  readonly call: AskedCall;
  /** The time limit of one execution. */
  readonly toolMs: number;
}

/** The question of an approval, and what runs: a tool with its validated arguments. */
export interface ToolQuestion {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolCallState extends ToolCallInput {
  /** Whether a person has changed the arguments. */
  readonly isEdited: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: ToolResult;
}

type CheckCall = ReturnType<
  typeof promiseActivity<ArgumentsCheck, { readonly tool: string; readonly arguments: string }>
>;
type ExecuteTool = ReturnType<typeof promiseActivity<CapabilityRunResult, ToolQuestion>>;

const ended = (
  { call }: ToolCallInput,
  output: string,
  code: CapabilityFailure | null,
): Pick<ToolCallState, 'result'> => ({
  result: { ...call, success: code === null, output, code },
});

type Checked = { readonly check: ArgumentsCheck };
type Decided = { readonly decision: ApprovalDecision };

const guards = {
  isInvalid: (_: unknown, { check }: Checked): GuardResult => ({
    holds: !check.ok,
    inputs: { problem: check.ok ? null : check.problem },
  }),
  needsApproval: (_: unknown, { check }: Checked): GuardResult => ({
    holds: check.ok && check.needsApproval,
    inputs: { needsApproval: check.ok && check.needsApproval },
  }),
  isDenied: (_: unknown, { decision }: Decided): GuardResult => ({
    holds: decision.decision === 'deny',
    inputs: { decision: decision.decision, by: decision.by },
  }),
  isEdited: (_: unknown, { decision }: Decided): GuardResult => ({
    holds: decision.isEdited,
    inputs: { edited: decision.isEdited },
  }),
};

/** Runs one tool call of a model: it validates the arguments, asks a person if the tool needs approval, and runs the tool. */
export const toolCallMachine = setup({
  types: { input: {} as ToolCallInput, context: {} as ToolCallState, output: {} as ToolResult },
  actors: {
    checkCall: missingActor('checkCall') as unknown as CheckCall,
    executeTool: missingActor('executeTool') as unknown as ExecuteTool,
    approval,
  },
  guards: guardsOf(guards),
  delays: { toolDeadline: ({ context }) => context.toolMs },
  actions: {
    assignArguments: assign((_, { check }: Checked) => (check.ok ? { arguments: check.arguments } : {})),
    recordInvalid: assign(({ context }, { check }: Checked) =>
      check.ok ? {} : ended(context, check.problem, check.code),
    ),
    recordDenial: assign(({ context }, { decision }: Decided) =>
      ended(context, `A person denied this call${decision.reason ? `: ${decision.reason}` : ''}.`, 'denied'),
    ),
    recordEdit: assign({ isEdited: true }),
    recordResult: assign(({ context }, { result }: { readonly result: CapabilityRunResult }) => {
      const output = result.success ? result.output : (result.error ?? '');
      const edit = `A person changed the arguments to ${JSON.stringify(context.arguments)}.\n`;
      return ended(context, context.isEdited ? `${edit}${output}` : output, result.code);
    }),
    recordError: assign(({ context }, { error }: { readonly error: unknown }) =>
      ended(context, unexpectedFailure(error).message, 'threw'),
    ),
    recordTimeout: assign(({ context }) => ended(context, `no result within ${context.toolMs} ms`, 'timed_out')),
  },
}).createMachine({
  id: 'toolCall',
  description: 'Runs one tool call of a model, after the approval of a person if it needs one.',
  context: ({ input }) => ({ ...input, isEdited: false, arguments: {}, ...ended(input, '', 'aborted') }),
  output: ({ context }) => context.result,
  initial: 'validating',
  states: {
    validating: {
      description: 'The arguments are validated against the schema of the tool. Does the call need approval?',
      invoke: {
        src: 'checkCall',
        input: ({ context: { call } }) => ({ tool: call.tool, arguments: call.arguments }),
        onDone: [
          {
            guard: { type: 'isInvalid', params: ({ event }) => ({ check: event.output }) },
            target: 'ended',
            actions: { type: 'recordInvalid', params: ({ event }) => ({ check: event.output }) },
          },
          {
            guard: { type: 'needsApproval', params: ({ event }) => ({ check: event.output }) },
            target: 'asking',
            actions: { type: 'assignArguments', params: ({ event }) => ({ check: event.output }) },
          },
          {
            target: 'running',
            actions: { type: 'assignArguments', params: ({ event }) => ({ check: event.output }) },
          },
        ],
        onError: { target: 'ended', actions: { type: 'recordError', params: ({ event }) => event } },
      },
    },
    asking: {
      description: 'A person approves the call, perhaps with other arguments, or denies it.',
      invoke: {
        src: 'approval',
        input: ({ context }) => ({ question: { tool: context.call.tool, arguments: context.arguments as never } }),
        onDone: [
          {
            guard: { type: 'isDenied', params: ({ event }) => ({ decision: event.output }) },
            target: 'ended',
            actions: { type: 'recordDenial', params: ({ event }) => ({ decision: event.output }) },
          },
          {
            guard: { type: 'isEdited', params: ({ event }) => ({ decision: event.output }) },
            target: 'validatingEdit',
          },
          { target: 'running' },
        ],
        onError: { target: 'ended', actions: { type: 'recordError', params: ({ event }) => event } },
      },
    },
    validatingEdit: {
      description:
        'Edited arguments are validated like those of the model. If they are invalid, the person is asked again.',
      invoke: {
        src: 'checkCall',
        input: ({ context: { call }, event }) => ({ tool: call.tool, arguments: editedArguments(event, call.tool) }),
        onDone: [
          {
            guard: { type: 'isInvalid', params: ({ event }) => ({ check: event.output }) },
            target: 'asking',
          },
          {
            target: 'running',
            actions: [{ type: 'assignArguments', params: ({ event }) => ({ check: event.output }) }, 'recordEdit'],
          },
        ],
        onError: { target: 'ended', actions: { type: 'recordError', params: ({ event }) => event } },
      },
    },
    running: {
      description: 'The tool runs. An error or a timeout is a result too: the model reads it.',
      invoke: {
        src: 'executeTool',
        input: ({ context }) => ({ tool: context.call.tool, arguments: context.arguments }),
        onDone: {
          target: 'ended',
          actions: { type: 'recordResult', params: ({ event }) => ({ result: event.output }) },
        },
        onError: { target: 'ended', actions: { type: 'recordError', params: ({ event }) => event } },
      },
      after: { toolDeadline: { target: 'ended', actions: 'recordTimeout' } },
    },
    ended: { description: 'A result for the model.', type: 'final' },
  },
});

/** The arguments in an edited question, as text. A question about another tool has none that are valid. */
function editedArguments(event: unknown, tool: string): string {
  const { question } = ((event as { output?: ApprovalDecision }).output ?? {}) as { question?: Partial<ToolQuestion> };
  return question?.tool === tool ? JSON.stringify(question.arguments ?? null) : 'null';
}
