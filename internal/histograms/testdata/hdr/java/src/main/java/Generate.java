import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.TimeZone;
import java.util.function.Consumer;
import java.util.zip.Deflater;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogWriter;

/**
 * Writes the golden files: what HdrHistogram's own Java code makes of histograms whose contents
 * follow from this text alone. The argument is the directory to write to.
 */
public final class Generate {
    private static final long MS = 1_000_000L;
    private static final long SECOND = 1_000_000_000L;
    /** 2026-01-01T00:00:00.250Z, in milliseconds. */
    private static final long START = 1_767_225_600_250L;

    private static final double[] PERCENTILES = {
        0, 1e-9, 0.1, 1, 5, 10, 25, 33.3, 50, 66.6, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999, 99.99999, 100
    };

    /** Knuth's MMIX generator: the same numbers on every Java, unlike a default that may change. */
    private static final class Lcg {
        private long state;

        Lcg(long seed) {
            state = seed;
        }

        /** 31 bits. */
        long next() {
            state = state * 6364136223846793005L + 1442695040888963407L;
            return state >>> 33;
        }

        double uniform() {
            return (next() + 0.5) / 2147483648.0;
        }

        /** Near enough to normal for a shape; sums and StrictMath are the same everywhere. */
        double normal() {
            double sum = -6;
            for (int i = 0; i < 12; i++) {
                sum += uniform();
            }
            return sum;
        }
    }

    private final Path dir;

    private Generate(Path dir) {
        this.dir = dir;
    }

    public static void main(String[] args) throws IOException {
        Locale.setDefault(Locale.US);
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        Path dir = Path.of(args[0]);
        Files.createDirectories(dir);
        Generate g = new Generate(dir);
        g.histograms();
        g.logs();
        g.formats();
    }

    private void histograms() throws IOException {
        histogram("empty", 1, 3600 * SECOND, 3, h -> {});
        histogram("one", 1, 3600 * SECOND, 3, h -> h.recordValue(1_234_567));
        histogram("zeros", 1, SECOND, 3, h -> {
            h.recordValueWithCount(0, 10);
            h.recordValueWithCount(1, 1);
        });
        histogram("bimodal", 1, 100 * SECOND, 3, Generate::bimodal);
        // One nanosecond to a hundred seconds, denser than the buckets are.
        histogram("wide3", 1, 100 * SECOND, 3, h -> spread(h, 20));
        histogram("wide2", 1, 100 * SECOND, 2, h -> spread(h, 100));
        histogram("wide1", 1, 100 * SECOND, 1, h -> spread(h, 100));
        histogram("digits0", 1, 100 * SECOND, 0, h -> spread(h, 10));
        histogram("digits5", 1, 10 * MS, 5, h -> {
            Lcg r = new Lcg(5);
            for (int i = 0; i < 500; i++) {
                h.recordValue(r.next() % (10 * MS));
            }
        });
        histogram("lognormal", 1, 100 * SECOND, 3, h -> lognormal(h, 1, 1_000_000));
        histogram("lognormal2", 1, 100 * SECOND, 2, h -> lognormal(h, 2, 1_000_000));
        // A lowest discernible value above one: microseconds in nanoseconds.
        histogram("coarse", 1000, 60 * SECOND, 3, h -> lognormal(h, 3, 5_000));
        // Runs of zeros of length one, two and many; counts of one to seven bytes.
        histogram("gaps", 1, 100 * SECOND, 3, h -> {
            long count = 1;
            for (long v = 1; v < 90 * SECOND; v = v * 3 + 2) {
                h.recordValueWithCount(v, count);
                h.recordValueWithCount(v + 1, 1);
                h.recordValueWithCount(v + 4, 3);
                count = count * 4 + 1;
            }
        });
        // The largest range there is.
        histogram("full", 1, Long.MAX_VALUE, 2, h -> {
            h.recordValue(Long.MAX_VALUE);
            h.recordValue(Long.MAX_VALUE / 2);
            h.recordValueWithCount(7, 998);
        });
        Histogram h = new Histogram(1, 100 * SECOND, 3);
        lognormal(h, 1, 1_000_000);
        for (int ticks : new int[] {1, 2, 3, 7, 10, 100}) {
            hgrm("ticks" + ticks, h, ticks, 1e6);
        }
        hgrm("nanoseconds", h, 5, 1.0);
        hgrm("thirds", h, 5, 3.0);
    }

    private static void bimodal(Histogram h) {
        Lcg r = new Lcg(7);
        for (int i = 0; i < 10_000; i++) {
            h.recordValue((i % 10 == 0 ? 20 * MS : 80_000) + r.next() % 5_000);
        }
    }

    private static void spread(Histogram h, int perDecade) {
        double step = StrictMath.pow(10, 1.0 / perDecade);
        for (double v = 1; v < 100 * SECOND; v *= step) {
            h.recordValue((long) v);
        }
    }

    private static void lognormal(Histogram h, long seed, int n) {
        Lcg r = new Lcg(seed);
        for (int i = 0; i < n; i++) {
            h.recordValue((long) (150_000 * StrictMath.exp(0.8 * r.normal())));
        }
    }

    private void histogram(String name, long lowest, long highest, int digits, Consumer<Histogram> fill)
            throws IOException {
        Histogram h = new Histogram(lowest, highest, digits);
        fill.accept(h);
        hgrm(name, h, 5, 1e6);
        write(name + ".b64", encode(h) + "\n");

        StringBuilder s = new StringBuilder();
        s.append("geometry ").append(lowest).append(' ').append(highest).append(' ').append(digits).append('\n');
        s.append("total ").append(h.getTotalCount()).append('\n');
        s.append("max ").append(h.getMaxValue()).append('\n');
        s.append("mean ").append(Long.toHexString(Double.doubleToLongBits(h.getMean()))).append('\n');
        s.append("stddev ").append(Long.toHexString(Double.doubleToLongBits(h.getStdDeviation()))).append('\n');
        for (double p : PERCENTILES) {
            s.append("percentile ").append(p).append(' ').append(h.getValueAtPercentile(p)).append('\n');
        }
        // Every bucket in use: its lowest and highest value and its count.
        for (HistogramIterationValue v : h.recordedValues()) {
            s.append("bucket ").append(h.lowestEquivalentValue(v.getValueIteratedTo()))
                .append(' ').append(h.highestEquivalentValue(v.getValueIteratedTo()))
                .append(' ').append(v.getCountAtValueIteratedTo()).append('\n');
        }
        write(name + ".txt", s.toString());
    }

    private void hgrm(String name, Histogram h, int ticks, double scale) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream p = new PrintStream(out);
        h.outputPercentileDistribution(p, ticks, scale);
        p.flush();
        write(name + ".hgrm", out.toString());
    }

    private void logs() throws IOException {
        log("plain", w -> {
            w.outputLogFormatVersion();
            w.outputStartTime(START);
            w.outputLegend();
            for (int i = 0; i < 3; i++) {
                w.outputIntervalHistogram(interval(i, null));
            }
        });
        log("base", w -> {
            w.outputComment("[Logged by Generate]");
            w.outputLogFormatVersion();
            w.outputStartTime(START);
            w.outputBaseTime(START - 1000);
            w.setBaseTime(START - 1000);
            w.outputLegend();
            for (int i = 0; i < 3; i++) {
                w.outputIntervalHistogram(interval(i, null));
            }
        });
        log("tags", w -> {
            w.outputLogFormatVersion();
            w.outputStartTime(START);
            w.outputBaseTime(START);
            w.setBaseTime(START);
            w.outputLegend();
            for (int i = 0; i < 2; i++) {
                w.outputIntervalHistogram(interval(i, null));
                w.outputIntervalHistogram(interval(i, "publish.response"));
                w.outputIntervalHistogram(interval(i, "délai"));
            }
        });
        // Relative times and nothing that says so: the reader has to guess.
        log("relative", w -> {
            w.outputLogFormatVersion();
            w.outputStartTime(START);
            w.setBaseTime(START);
            w.outputLegend();
            w.outputIntervalHistogram(interval(0, null));
            w.outputIntervalHistogram(interval(1, null));
        });
        log("bare", w -> w.outputIntervalHistogram(interval(0, null)));
        // Times and maxima half way between two thousandths.
        log("rounding", w -> {
            w.outputLogFormatVersion();
            double[] starts = {0.0005, 0.0015, 0.0045, 1.0005, 2.4995, 1023.9995};
            for (int i = 0; i < starts.length; i++) {
                Histogram h = new Histogram(1, 1_000_000, 5);
                h.recordValue(500 + 1000L * i);
                w.outputIntervalHistogram(starts[i], starts[i] + 1, h);
            }
        });
    }

    /** The histogram of second i after START. */
    private static Histogram interval(int i, String tag) {
        Histogram h = new Histogram(1, 100 * SECOND, 3);
        lognormal(h, 100 + i + (tag == null ? 0 : tag.length()), 200);
        h.setStartTimeStamp(START + 1000L * i + i);
        h.setEndTimeStamp(START + 1000L * (i + 1) + 2L * i);
        h.setTag(tag);
        return h;
    }

    private void log(String name, Consumer<HistogramLogWriter> fill) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream p = new PrintStream(out, false, StandardCharsets.UTF_8);
        fill.accept(new HistogramLogWriter(p));
        p.flush();
        Files.write(dir.resolve(name + ".hlog"), out.toByteArray());
    }

    /** How Java prints numbers: bits, decimals, text. */
    private void formats() throws IOException {
        StringBuilder s = new StringBuilder();
        double[] fixed = {
            0, -0.0, 1, 0.5, 1.5, 2.5, 0.0005, 0.0045, 0.00049999, 0.9995, 0.99949999999, 9.9995, 999.9995,
            1e-10, 5e-13, 4.9e-13, 5e-324, 1e21, 1e22, 123456789.0005, -1.0005, -0.0001,
            9007199254740993.0, Double.MAX_VALUE, 100.0 / 3, 2.0 / 3, 1.0 / 3, 0.05, 0.15, 0.25, 0.35
        };
        for (double v : fixed) {
            for (int decimals : new int[] {0, 1, 2, 3, 12}) {
                format(s, v, decimals);
            }
        }
        Lcg r = new Lcg(11);
        for (int i = 0; i < 400; i++) {
            // Half way at three decimals, as written; a ratio; a level.
            format(s, Double.parseDouble(r.next() % 100_000 + "." + (1000 + r.next() % 1000 + "").substring(1) + "5"), 3);
            format(s, r.next() / 1e6, (int) (r.next() % 6));
            format(s, 1 / (1 - r.uniform()), 2);
            format(s, r.uniform(), 12);
        }
        write("formats.txt", s.toString());
    }

    private static void format(StringBuilder s, double v, int decimals) {
        s.append(Long.toHexString(Double.doubleToLongBits(v))).append(' ').append(decimals).append(' ')
            .append(String.format(Locale.US, "%." + decimals + "f", v)).append('\n');
    }

    private static String encode(Histogram h) {
        ByteBuffer b = ByteBuffer.allocate(h.getNeededByteBufferCapacity());
        int n = h.encodeIntoCompressedByteBuffer(b, Deflater.BEST_COMPRESSION);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(b.array(), n));
    }

    private void write(String name, String text) {
        try {
            Files.writeString(dir.resolve(name), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
