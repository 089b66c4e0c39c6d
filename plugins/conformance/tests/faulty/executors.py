"""One sound executor, and heirs of it with one fault each."""

import attrs

from faithkit.plugin import ChunkResult, explain_chunk


class Sound:
    """Answers the last chunk first."""

    def run(self, job, chunks):
        for chunk in reversed(chunks):
            yield chunk, self.explain(job, chunk)

    def explain(self, job, chunk):
        return explain_chunk(job, chunk)


class LosesAChunk(Sound):
    """Never answers the first chunk."""

    def run(self, job, chunks):
        yield from super().run(job, chunks[1:])


class LosesTheConnection(Sound):
    """Raises an error of a library."""

    def run(self, job, chunks):
        raise ConnectionError("nobody listens")


class MixesChunks(Sound):
    """Answers each chunk with the explanations of another one."""

    def run(self, job, chunks):
        results = [self.explain(job, chunk) for chunk in chunks]
        yield from zip(chunks, results[::-1], strict=True)


class ChangesReasons(Sound):
    """Gives reasons of its own."""

    def explain(self, job, chunk):
        result = explain_chunk(job, chunk)
        return attrs.evolve(result, reasons=[reason and "it failed" for reason in result.reasons])


class HidesErrors(Sound):
    """Never raises an error."""

    def explain(self, job, chunk):
        return explain_chunk(attrs.evolve(job, on_error="record"), chunk)


class AnswersWithoutChunks(Sound):
    """Yields results alone."""

    def run(self, job, chunks):
        for _, result in super().run(job, chunks):
            assert isinstance(result, ChunkResult)
            yield result
