import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * Decodes histograms encoded in Go and compares them with those encoded in Java. The arguments are
 * a file of lines "name base64", and the directory of golden files. Prints a line for each and
 * fails if any differs.
 */
public final class Check {
    public static void main(String[] args) throws IOException, DataFormatException {
        Path golden = Path.of(args[1]);
        boolean differs = false;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] f = line.split(" ");
            Histogram go = decode(f[1]);
            Histogram java = decode(Files.readString(golden.resolve(f[0] + ".b64")).trim());
            boolean equal = go.equals(java)
                && go.getLowestDiscernibleValue() == java.getLowestDiscernibleValue()
                && go.getHighestTrackableValue() == java.getHighestTrackableValue()
                && go.getNumberOfSignificantValueDigits() == java.getNumberOfSignificantValueDigits();
            System.out.println((equal ? "equal " : "DIFFERS ") + f[0] + " " + go.getTotalCount() + " " + go.getMaxValue());
            differs |= !equal;
        }
        if (differs) {
            throw new IllegalStateException("histograms differ");
        }
    }

    private static Histogram decode(String base64) throws DataFormatException {
        return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(base64)), 0);
    }
}
