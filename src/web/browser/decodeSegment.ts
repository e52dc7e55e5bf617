/** Decodes a segment of an address; one that is malformed stays as it is, and leads to nothing. */
export const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
