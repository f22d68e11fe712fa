import type { ModelRequest } from '../../../machines/contracts/model.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';

/** Stands for the page's model: says at once what the request asks for, with a page's worst friend in every text. */
export const model = scriptedModel((request) => hostile(reply(request)) as Record<string, unknown>);

const HTML = '<img src="x" onerror="window.hacked = true"><script>window.hacked = true</script>';

function reply({ task, input }: ModelRequest): unknown {
  const said = replies[task as Task];
  const { request = '' } = input as { request?: string };
  return task === 'synthesis' ? { ...said, answerText: `You asked: ${request.slice(0, 40)}` } : said;
}

function hostile(value: unknown): unknown {
  if (typeof value === 'string') return `${value} ${HTML}`;
  if (Array.isArray(value)) return value.map(hostile);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hostile(one)]));
  return value;
}
