/** Decodes a segment of an address. A malformed one stays unchanged and matches nothing. */
export const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
