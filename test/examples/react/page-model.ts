import type { ModelRequest } from '../../../machines/contracts/model.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';

/** Replaces the page's model: replies immediately, with hostile HTML in every text. */
export const model = scriptedModel((request) => hostile(reply(request)) as Record<string, unknown>);

const HTML = '<img src="x" onerror="window.hacked = true"><script>window.hacked = true</script>';

function reply({ task, input }: ModelRequest): unknown {
  const scripted = replies[task as Task];
  const { request = '' } = input as { request?: string };
  return task === 'synthesis' ? { ...scripted, answerText: `You asked: ${request.slice(0, 40)}` } : scripted;
}

function hostile(value: unknown): unknown {
  if (typeof value === 'string') return `${value} ${HTML}`;
  if (Array.isArray(value)) return value.map(hostile);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hostile(one)]));
  return value;
}
