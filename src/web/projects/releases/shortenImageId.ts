/** First digits of an image id, as Docker shows it. */
export const shortenImageId = (id: string): string => id.replace("sha256:", "").slice(0, 12)
