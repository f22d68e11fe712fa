import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageFile, PageFiles } from './page-files.ts';
import { pageHeaders, plainHeaders } from './page-headers.ts';
import { isRefusal, type Refusal, type RequestAuthorizer } from './request-authorizer.ts';

/** Answers requests with the files of the page. */
export function answerWith(door: RequestAuthorizer, files: PageFiles) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const admission = door.admit(request);
    if (isRefusal(admission)) refuse(request, response, admission);
    // The paths in the page are relative: they begin under the token.
    else if (admission.path === null) redirect(response, `/${door.token}/`);
    else give(await files.read(admission.path), admission.host, request, response);
  };
}

function give(file: PageFile | Refusal, host: string, request: IncomingMessage, response: ServerResponse): void {
  if ('status' in file) refuse(request, response, file);
  else {
    const { type, bytes } = file;
    response.writeHead(200, { ...pageHeaders(host), 'content-type': type, 'content-length': bytes.length });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, text }: Refusal): void {
  // What is still being sent is not waited for.
  response.shouldKeepAlive = request.method === 'GET' || request.method === 'HEAD';
  response.writeHead(status, {
    ...plainHeaders,
    'content-type': 'text/plain; charset=utf-8',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'HEAD' ? undefined : `${text}\n`);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(308, { ...plainHeaders, location });
  response.end();
}
