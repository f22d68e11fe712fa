import type { ChatModel, ModelPart, ModelRequest } from '../../machines/contracts/model.ts';

/** A small request; its schema is one that OpenAI's strict mode takes. */
export function modelRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    task: 'action',
    turns: [
      { role: 'system', content: 'You answer.' },
      { role: 'user', content: 'Why is the sky blue?' },
    ],
    schemaName: 'action_reply',
    outputSchema: {
      type: 'object',
      properties: { response: { type: 'string' } },
      required: ['response'],
      additionalProperties: false,
    },
    replyForm: 'text',
    input: {},
    ...changes,
  };
}

/** All parts of one call. */
export async function partsOf(
  model: ChatModel,
  request = modelRequest(),
  signal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request, { signal })) parts.push(part);
  return parts;
}

export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
}

/** The failure that a call ended in; throws when it ended well. */
export async function failureFrom(model: ChatModel, request = modelRequest()) {
  const last = (await partsOf(model, request)).at(-1);
  if (last?.type !== 'failure') throw new Error(`expected a failure, got ${JSON.stringify(last)}`);
  return last.failure;
}
