import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod';

/** An error response: its status, and `{ code, message }` as the body. */
export class HttpError extends Error {
  readonly status: ContentfulStatusCode;
  readonly code: string;

  constructor(status: ContentfulStatusCode, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Returns the validated JSON body. Rejects forms and plain text, which browsers send to other sites without a preflight request. */
export async function readBody<Body>(c: Context, schema: z.core.$ZodType<Body>): Promise<Body> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new HttpError(415, 'no_json', 'Send the body as application/json.');
  const text = await c.req.text();
  const read = z.safeParse(schema, parse(text));
  if (read.success) return read.data;
  throw new HttpError(400, 'invalid_body', z.prettifyError(read.error).replaceAll(/\s+/g, ' ').slice(0, 500));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'invalid_json', 'The body is not valid JSON.');
  }
}
