import type {
  ServerContext as CallContext,
  CallToolResult,
  ClientCapabilities,
  InputRequests,
  InputRequiredResult,
  McpServer,
} from '@modelcontextprotocol/server';
import * as z from 'zod/mini';
import manifest from '../../../package.json' with { type: 'json' };
import { parseJson } from '../../internal/json-text.ts';
import { importByName, loadOptional } from '../../internal/optional-package.ts';
import {
  invalid,
  type Offer,
  requireFewValues,
  type ServerApp,
  type ServerContext,
  type ServerRequest,
  type ToJsonSchema,
} from '../context.ts';
import type { Owner } from '../owners.ts';
import type { ClientRequest, ServedRuns } from '../served-runs.ts';
import { isLastWait, type Question, type ServedAnswer, type Updates } from '../updates.ts';
import { type Answers, answerSchemas, questionText, sendAnswers, untilQuestions, waitNoticeOf } from './questions.ts';

type Sdk = typeof import('@modelcontextprotocol/server');
type Envelope = CallContext['mcpReq']['envelope'];

const inputSchema = z.object({
  question: z.string().check(z.minLength(1), z.maxLength(1_000_000), z.describe('A question or a task.')),
  session: z.optional(
    z
      .string()
      .check(z.minLength(1), z.maxLength(200), z.describe('The name of a conversation. Earlier turns are remembered.')),
  ),
});

const outputSchema = z.object({
  runId: z.string(),
  answer: z.string(),
  status: z.enum(['completed', 'degraded', 'cancelled']),
  /** Why the answer is not complete. */
  reasons: z.array(z.string()),
  confidence: z.optional(z.number()),
  sources: z.array(
    z.object({ path: z.string(), startLine: z.optional(z.int()), endLine: z.optional(z.int()), quote: z.string() }),
  ),
});

/** The answer schemas without nested values, which MCP forms do not support. */
const { approval, consent, direction } = answerSchemas;
const formSchemas = {
  approval: z.object({ approved: approval.shape.approved, reason: approval.shape.reason }),
  consent: z.object({ choice: consent.shape.choice }),
  direction: z.object(direction.shape),
};

/** The chain as a tool. */
export const ASK: AskedRuns['offers'][number] = {
  tool: {
    name: 'ask',
    title: 'Ask',
    description: 'Answers a question or performs a task in several reasoning steps, and cites its sources.',
    remembers: true,
  },
};

/** The runs that the tools start, and how they read them. */
export interface AskedRuns {
  readonly runs: ServedRuns;
  /** The chain or agent of each tool; without a name, the only one. */
  readonly offers: readonly (Pick<Offer, 'tool'> & Partial<Offer>)[];
  readonly toJsonSchema: ToJsonSchema;
  readonly owner: Owner;
  /** JSON data to store with each run. */
  readonly host?: ClientRequest['host'];
  /** Reads a run while the client waits. */
  read<Result>(runId: string, use: (updates: Updates) => Promise<Result>): Promise<Result>;
  /** Returns the error to show to the client. */
  errorFor(error: unknown): { readonly message: string };
}

/** Adds an MCP endpoint with the chain and the agents as tools. Its first request requires the package `@modelcontextprotocol/server`. */
export function addMcp(app: ServerApp, server: ServerContext): void {
  const { runs, offers, toJsonSchema } = server;
  // Imported by name, so that bundlers omit the package: most servers do not need it.
  const load = async () => {
    const name = '@modelcontextprotocol/server';
    const sdk = await loadOptional(name, '/mcp', () => importByName<Sdk>(name));
    return sdk.createMcpHandler(({ authInfo }) => {
      const c = authInfo?.extra?.['request'] as ServerRequest;
      return askServer(sdk, {
        runs,
        offers,
        toJsonSchema,
        owner: c.var.owner,
        read: (runId, use) => server.read(c, runId, use),
        errorFor: (error) => server.errorFor(c, error),
      });
    });
  };
  let handler: ReturnType<typeof load> | null = null;

  app.all('/mcp', async (c) => {
    handler ??= load();
    // The handler reports a body that cannot be read.
    requireFewValues(
      parseJson(
        await c.req.raw
          .clone()
          .text()
          .catch(() => ''),
      ),
    );
    const authInfo = { token: '', clientId: c.var.owner, scopes: [], extra: { request: c } };
    return (await handler).fetch(c.req.raw, { authInfo });
  });
}

/** Returns an MCP server with a tool for each offer. */
export function askServer(sdk: Sdk, { runs, offers, toJsonSchema, owner, host, read, errorFor }: AskedRuns): McpServer {
  const server = new sdk.McpServer({ name: 'postchain', version: manifest.version });

  for (const { name: agent, tool } of offers) {
    const { name, title, description, remembers } = tool;
    const described = remembers ? inputSchema : z.strictObject({ question: inputSchema.shape.question });
    const schemas = { inputSchema: toJsonSchema(described), outputSchema: toJsonSchema(outputSchema) };
    server.registerTool(name, { title, description, ...schemas }, answerWith(agent));
  }

  function answerWith(agent?: string) {
    return async ({ question, session }: z.infer<typeof inputSchema>, { mcpReq }: CallContext) => {
      // The request state is the id of the run, which only its owner can read.
      const continuedRunId = mcpReq.requestState<string>();
      try {
        const answers = continuedRunId === undefined ? {} : answersIn(mcpReq.inputResponses ?? {});
        const asked = { request: question, agent, ...(session !== undefined && { session }), ...(host && { host }) };
        const runId = continuedRunId ?? (await runs.start(owner, asked)).runId;
        // An invalid answer leaves the run as it is.
        if (continuedRunId !== undefined) await sendAnswers(runs, owner, runId, answers, session ?? null);
        const cancel = (): void => {
          const event = { type: 'run.cancelled', reason: 'The client canceled the call.' } as const;
          runs.send(owner, runId, event).catch(errorFor);
        };
        mcpReq.signal.addEventListener('abort', cancel, { once: true });
        if (mcpReq.signal.aborted) cancel();
        const token = mcpReq._meta?.progressToken;
        const result = await read(runId, async (updates) => {
          const steps = untilQuestions(runs, owner, runId, updates, Object.keys(answers));
          let progress = 0;
          for await (const { update, isNew, questions } of steps) {
            progress += 1;
            if (questions !== null) return ask(runId, questions, mcpReq.envelope);
            if (update.type === 'answer') return answered(runId, update.answer);
            if (
              update.type === 'progress' &&
              update.isWaiting &&
              isLastWait((await runs.stored(owner, runId)).updates, update)
            )
              return failed(`The run ${runId} has not ended. ${waitNoticeOf(agent ?? '', runId, update.text)}`);
            if (isNew && token !== undefined && update.type === 'progress') {
              const params = { progressToken: token, progress, message: update.text };
              await mcpReq.notify({ method: 'notifications/progress', params });
            }
          }
          return failed(`The server is stopping. The run ${runId} continues after a restart.`);
        });
        // With older protocol versions, the call continues while the user answers.
        if (!sdk.isInputRequiredResult(result) || mcpReq.envelope !== undefined)
          mcpReq.signal.removeEventListener('abort', cancel);
        return result;
      } catch (error) {
        const { message } = errorFor(error);
        return failed(continuedRunId === undefined ? message : `${message} (run ${continuedRunId})`);
      }
    };
  }

  function ask(
    runId: string,
    questions: readonly Question[],
    envelope: Envelope,
  ): CallToolResult | InputRequiredResult {
    const sent = envelope as Readonly<Record<string, ClientCapabilities>> | undefined;
    const { elicitation } = sent?.[sdk.CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities() ?? {};
    const hasForms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
    if (!hasForms) {
      const texts = questions.map((question) => `${questionText(question)} (question ${question.questionId})`);
      return failed(
        `The run ${runId} is waiting for its user, and this client did not offer elicitation (over HTTP, it requires protocol version 2026-07-28 or newer). ` +
          `Answer with POST /runs/${runId}/events, or run "postchain resume ${runId}" on the machine that has its journal.\n${texts.join('\n')}`,
      );
    }
    const forms = questions.map((question): [string, InputRequests[string]] => {
      const requestedSchema = toJsonSchema(formSchemas[question.kind]);
      return [question.questionId, sdk.inputRequired.elicit({ message: questionText(question), requestedSchema })];
    });
    return sdk.inputRequired({ inputRequests: Object.fromEntries(forms), requestState: runId });
  }

  return server;
}

const responsesSchema = z.record(z.string(), z.object({ action: z.string(), content: z.optional(z.unknown()) }));

function answersIn(responses: Readonly<Record<string, unknown>>): Answers {
  const read = responsesSchema.safeParse(responses);
  if (!read.success) throw invalid('inputResponses', 'expected elicitation results');
  const entries = Object.entries(read.data);
  return Object.fromEntries(entries.map(([id, { action, content }]) => [id, action === 'accept' ? content : null]));
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

function answered(runId: string, answer: ServedAnswer): CallToolResult {
  const { answerText, status, reasons, confidence, sources } = answer;
  const structuredContent: z.infer<typeof outputSchema> = {
    runId,
    answer: answerText,
    status,
    reasons: reasons.map(({ message }) => message),
    confidence,
    sources: sources.map(({ path, startLine, endLine, quote }) => ({ path, startLine, endLine, quote })),
  };
  return { content: [{ type: 'text', text: answerText }], structuredContent };
}
