import type { FileStore } from "@millrace/file-store";
import { fileReferenceSchema } from "@millrace/worker-config/contracts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { attachmentNamed, nameIn } from "../content-disposition.ts";
import { describeProblem, describeResponse, problemResponses, sendProblem } from "../problem.ts";

// 50 MiB at half a megabit a second.
export const longestUploadMs = 900_000;
// Of the whole answer: a slow reader takes as long as a slow writer.
const transferOptions = { handlerTimeout: longestUploadMs + 60_000, exposeHeadRoute: false };

const paramsSchema = z.object({ fileId: z.string() });
const querySchema = z.object({
  name: z.string().optional().describe("What the file is called. Else the filename of the header Content-Disposition."),
  ttlMs: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe("How long it is kept, in milliseconds. Else FILE_STORE_TTL_MS."),
});
const bytesSchema = z.string().meta({ contentMediaType: "application/octet-stream" });
const tooLarge = describeProblem("The file is larger than FILE_STORE_MAX_BYTES.");
const fileProblems = {
  ...problemResponses,
  404: describeProblem("There is no such file, or its time is over."),
  503: describeProblem("The file store does not answer. Retry-After says when to ask again."),
};

/** `POST /files`, `GET /files/:fileId` and `DELETE /files/:fileId`. Bytes pass through and are never held as a whole. */
export function fileRoutes(app: FastifyInstance, files: FileStore): void {
  // In a scope of its own: here a body is bytes, whatever its type says, and nobody reads it before the route does.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));

    scope.post<{ Querystring: z.output<typeof querySchema> }>(
      "/files",
      {
        config: { access: "producer", notAudited: "A producer's files are as many as its jobs." },
        ...transferOptions,
        schema: {
          tags: ["files"],
          summary: "Store a file",
          description: "The body is the file, whatever its type. The answer's `fileId` is what a job carries.",
          consumes: ["application/octet-stream"],
          querystring: querySchema,
          body: z.any().meta({ contentMediaType: "application/octet-stream" }),
          response: {
            201: describeResponse("The file is stored.", fileReferenceSchema),
            408: describeProblem("The upload took longer than 15 minutes."),
            413: tooLarge,
            ...fileProblems,
          },
        },
      },
      async (request, reply) => {
        const { headers, query } = request;
        if (Number(headers["content-length"] ?? 0) > files.maxBytes) return refuseTooLarge(request, reply, files);
        const signal = AbortSignal.timeout(longestUploadMs);
        try {
          // The iterator leaves the connection open when the store stops reading, so that the refusal arrives.
          const file = await files.put(request.raw.iterator({ destroyOnReturn: false }), {
            name: query.name ?? nameIn(headers["content-disposition"]) ?? "",
            contentType: headers["content-type"] ?? "application/octet-stream",
            ...(query.ttlMs !== undefined && { ttlMs: query.ttlMs }),
            signal,
          });
          return reply.status(201).header("location", `/files/${file.fileId}`).send(file);
        } catch (error) {
          dropBody(request, reply);
          if (request.raw.readableAborted) return sendProblem(reply, uploadAborted);
          if (signal.aborted) return sendProblem(reply, uploadTimeout);
          throw error;
        }
      },
    );
  });

  app.get<{ Params: z.output<typeof paramsSchema> }>(
    "/files/:fileId",
    {
      config: { access: "any" },
      ...transferOptions,
      schema: {
        tags: ["files"],
        summary: "Read a file",
        params: paramsSchema,
        response: {
          200: describeResponse("Its bytes, to be saved.", bytesSchema, "application/octet-stream"),
          ...fileProblems,
        },
      },
    },
    async ({ params }, reply) => {
      const { file, content } = await files.open(params.fileId);
      return reply
        .headers({
          "content-type": file.contentType,
          "content-length": file.bytes,
          // A stranger's page would otherwise be shown as one of ours.
          "content-disposition": attachmentNamed(file.name),
          "x-content-type-options": "nosniff",
        })
        .send(content);
    },
  );

  app.delete<{ Params: z.output<typeof paramsSchema> }>(
    "/files/:fileId",
    {
      config: { access: "producer", notAudited: "A producer's files are as many as its jobs." },
      schema: {
        tags: ["files"],
        summary: "Delete a file",
        params: paramsSchema,
        response: { 204: z.null().describe("It is deleted."), ...fileProblems },
      },
    },
    async ({ params: { fileId } }, reply) => {
      if (await files.delete(fileId)) return reply.status(204).send();
      const detail = `There is no file ${fileId}: it was deleted, or its time is over.`;
      return sendProblem(reply, { status: 404, title: "Unknown file", code: "file_missing", detail });
    },
  );
}

const uploadAborted = {
  status: 400,
  title: "Upload aborted",
  code: "upload_aborted",
  detail: "The connection ended before the file did; nothing was stored.",
};

const uploadTimeout = {
  status: 408,
  title: "Upload timed out",
  code: "upload_timeout",
  detail: `Expected the whole file within ${longestUploadMs / 60_000} minutes; nothing was stored.`,
};

function refuseTooLarge(request: FastifyRequest, reply: FastifyReply, { maxBytes }: FileStore): FastifyReply {
  dropBody(request, reply);
  const detail = `Expected a file of at most ${maxBytes} bytes, got ${request.headers["content-length"]}. Nothing was stored.`;
  return sendProblem(reply, { status: 413, title: "File too large", code: "file_too_large", detail });
}

/** A sender reads the answer when its body has gone somewhere; the connection does not outlive it. */
function dropBody(request: FastifyRequest, reply: FastifyReply): void {
  request.raw.resume();
  reply.header("connection", "close");
}
